import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { parseSearch, writeSearch, type Search } from "../../app/search.ts";
import { useMe } from "../../app/session.ts";
import { fieldsOf } from "../../parts/fields.ts";
import { Icon, icons } from "../../parts/icon.tsx";
import { Answered, Loading, textOf } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";
import styles from "./events.module.css";
import { savable, viewedPage } from "./saved-filters.ts";

type View = Schemas["View"];

const queryKey = ["listViews"];
const byName = { Qt: 100, CpOrd: "name", Total: false } as const;
/** From so many saved filters on, they can be searched. */
const manyViews = 8;

async function allViews(): Promise<readonly View[]> {
  const views: View[] = [];
  for await (const view of relay.listViews(byName)) if (view.page === viewedPage) views.push(view);
  return views;
}

/** The person's saved filters, and those that others share: to go to, to remove, and to add those chosen. */
export function SavedFiltersMenu({ search, close }: {
  readonly search: Search; readonly close: () => void;
}): ReactNode {
  const query = useQuery({ queryKey, queryFn: allViews });
  return (
    <Answered query={query} loading={<Loading lines={3} />}>
      {(views) => <Views views={views} search={search} close={close} />}
    </Answered>
  );
}

function Views({ views, search, close }: {
  readonly views: readonly View[]; readonly search: Search; readonly close: () => void;
}): ReactNode {
  const { principal, role } = useMe();
  const queries = useQueryClient();
  const [problem, setProblem] = useState("");
  const [text, setText] = useState("");
  const found = views.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));
  const chosen = savable(search);
  const own = views.filter(({ ownerUserId }) => ownerUserId === principal.id);
  const act = async (change: () => Promise<unknown>) => {
    setProblem("");
    try {
      await change();
      await queries.invalidateQueries({ queryKey });
    } catch (error) {
      setProblem(textOf(error));
    }
  };
  const save = (name: string, isShared: boolean) => {
    const query = writeSearch(chosen ?? {}).slice(1);
    const same = own.find((view) => view.name === name);
    return same ? relay.updateView({ id: same.id }, { query, shared: isShared })
      : relay.createView({ name, page: viewedPage, query, shared: isShared });
  };
  return (
    <>
      {views.length === 0 && <p className={shared.small}>Filters that you save, or others share, are here.</p>}
      {views.length >= manyViews && (
        <input
          type="search" aria-label="Search saved filters" placeholder="Search" value={text} autoComplete="off"
          onChange={({ target }) => setText(target.value)}
        />
      )}
      {views.length > 0 && found.length === 0 && <p className={shared.small}>None has this name.</p>}
      {found.map((view) => (
        <span key={view.id} className={styles.choice}>
          <Link to="/events" search={savable(parseSearch(view.query)) ?? {}} className={styles.clipped} onClick={close}>
            {view.name}
          </Link>
          {view.shared && <small>shared</small>}
          {own.includes(view) && (
            <button
              type="button" className={shared.plain} aria-label={`Remove ${view.name}`}
              onClick={() => void act(() => relay.deleteView({ id: view.id }))}
            >
              <Icon of={icons.x} size={14} />
            </button>
          )}
        </span>
      ))}
      {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
      {chosen === undefined ? <p className={shared.small}>Choose filters or columns to save them.</p> : (
        <form className={styles.menuForm} onSubmit={(event) => {
          event.preventDefault();
          const { filtersName = "", filtersShared } = fieldsOf(event.currentTarget);
          void act(() => save(filtersName.trim(), filtersShared !== undefined));
          event.currentTarget.reset();
        }}>
          <label>Name for these filters
            <input name="filtersName" maxLength={255} required placeholder="Failed, shop" autoComplete="off" />
          </label>
          {role !== "Viewer" && (
            <label className={styles.check}>
              <input type="checkbox" name="filtersShared" /> Share with the tenant
            </label>
          )}
          <button type="submit">Save these filters</button>
        </form>
      )}
    </>
  );
}
