import type { ParametersOf, Schemas } from "@webhook-relay/client";
import { useEffect, useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import type { Search } from "../../app/search.ts";
import type { Targets } from "../../parts/names.tsx";
import { Empty, Failure } from "../../parts/states.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { BulkActs } from "./bulk-acts.tsx";
import { EventList, type Showing } from "./event-list.tsx";
import styles from "./events.module.css";
import { ClearFilters } from "./filter-bar.tsx";
import type { Item } from "./filters.ts";
import type { Place } from "./places.ts";
import { useSelection } from "./selection.ts";
import { useAct } from "./use-act.tsx";

type End = Extract<Schemas["EventSearchLine"], { readonly end: true }>;

interface Found {
  readonly items: readonly Item[];
  /** The texts by which events were found. */
  readonly matches: ReadonlyMap<string, string>;
  readonly scanned: number;
  /** The end of the last scan; undefined while one is under way. */
  readonly end?: End | undefined;
  readonly error?: unknown;
}

/** The events whose payload matches, as the scan finds them; a button continues it. */
export function SearchedEvents({ asked, filters, place, showing, targets }: {
  readonly asked: ParametersOf<"searchEvents">;
  readonly filters: Search;
  readonly place: Place;
  readonly showing: Showing;
  readonly targets: Targets;
}): ReactNode {
  const [cursor, setCursor] = useState<string>();
  const [tries, setTries] = useState(0);
  const [found, setFound] = useState<Found>({ items: [], matches: new Map(), scanned: 0 });
  const selection = useSelection();
  const { act, dialog } = useAct();
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    const scan = async () => {
      setFound(({ items, matches, scanned }) => ({ items, matches, scanned }));
      const from = cursor === undefined ? {} : { Cursor: cursor };
      for await (const line of relay.searchEvents({ ...asked, ...from }, { signal })) {
        if (signal.aborted) return;
        setFound(({ items, matches, scanned }) => "end" in line
          ? { items, matches, scanned: scanned + line.scanned, end: line }
          // A repeated scan finds the same events again.
          : {
            items: matches.has(line.item.id) ? items : [...items, line.item],
            matches: new Map([...matches, [line.item.id, line.match]]), scanned,
          });
      }
    };
    scan().catch((error: unknown) => {
      if (!signal.aborted) setFound((before) => ({ ...before, error }));
    });
    return () => ended.abort();
  }, [cursor, tries]);
  const { items, matches, scanned, end, error } = found;
  const more = end?.nextCursor ?? null;
  return (
    <>
      <div className={styles.listHead}>
        <p className={shared.small} role="status">
          {error !== undefined ? `${items.length} found before the scan failed.`
            : end === undefined ? "Scanning payloads, newest first…" : (
              <>
                {items.length} found in {scanned} events
                {more !== null && end.until !== null && <>, back to <Moment at={end.until} /></>}
                {more === null && ": all were scanned"}.
              </>
            )}
        </p>
        {more !== null && <button type="button" onClick={() => setCursor(more)}>Scan on</button>}
        <BulkActs filters={filters} newest={undefined} selection={selection} targets={targets} />
      </div>
      {error !== undefined && <Failure error={error} retry={() => setTries(tries + 1)} />}
      {items.length > 0 && (
        <EventList
          count={items.length} at={(index) => items[index]} selection={selection} {...showing} nameOf={targets.nameOf}
          matchOf={(id) => matches.get(id)} place={place} act={act}
        />
      )}
      {items.length === 0 && end !== undefined && (
        <Empty act={<ClearFilters />}>No payload matches{more === null ? "" : " so far"}.</Empty>
      )}
      {dialog}
    </>
  );
}
