import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { keep, readKept } from "../../app/kept.ts";
import type { Search } from "../../app/search.ts";
import { useMe } from "../../app/session.ts";
import { fieldsOf } from "../../parts/fields.ts";
import { Icon, icons } from "../../parts/icon.tsx";
import shared from "../../style/shared.module.css";
import styles from "./events.module.css";
import { longestName, mostSaved, savable, savedIn, withSaved, type SavedFilters } from "./saved-filters.ts";

/** Filters that a person saved in this browser, for this tenant: to go back to, to remove, and to add those chosen. */
export function SavedFiltersMenu({ search, close }: {
  readonly search: Search; readonly close: () => void;
}): ReactNode {
  const { tenant } = useMe();
  const place = `relay-filters-${tenant.id}`;
  const [saved, setSaved] = useState(() => savedIn(readKept(place)));
  const change = (changed: readonly SavedFilters[]) => {
    keep(place, changed);
    setSaved(changed);
  };
  const chosen = savable(search);
  return (
    <>
      {saved.length === 0 && <p className={shared.small}>Filters that you save stay in this browser.</p>}
      {saved.map(({ name, search: of }) => (
        <span key={name} className={styles.choice}>
          <Link to="/events" search={of} className={styles.clipped} onClick={close}>{name}</Link>
          <button
            type="button" className={shared.plain} aria-label={`Remove ${name}`}
            onClick={() => change(saved.filter((other) => other.name !== name))}
          >
            <Icon of={icons.x} size={14} />
          </button>
        </span>
      ))}
      {chosen === undefined ? <p className={shared.small}>Choose filters or columns to save them.</p>
        : saved.length >= mostSaved
          ? <p className={shared.small}>No more than {mostSaved} are kept: remove one first.</p> : (
            <form className={styles.menuForm} onSubmit={(event) => {
              event.preventDefault();
              const name = fieldsOf(event.currentTarget)["filtersName"]?.trim() ?? "";
              if (name !== "") change(withSaved(saved, { name, search: chosen }));
              event.currentTarget.reset();
            }}>
              <label>Name for these filters
                <input
                  name="filtersName" maxLength={longestName} required placeholder="Failed, shop" autoComplete="off"
                />
              </label>
              <button type="submit">Save these filters</button>
            </form>
          )}
    </>
  );
}
