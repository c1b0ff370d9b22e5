import type { ParametersOf, Schemas } from "@webhook-relay/client";
import { useEffect, useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import type { Search } from "../../app/search.ts";
import type { Targets } from "../../parts/names.tsx";
import { Empty, Failure } from "../../parts/states.tsx";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { BulkActs } from "./bulk-acts.tsx";
import { EventList } from "./event-list.tsx";
import styles from "./events.module.css";
import { ClearFilters } from "./filter-bar.tsx";
import type { Item } from "./filters.ts";
import type { Showing } from "./listed-events.tsx";
import { useSelection } from "./selection.ts";

type End = Extract<Schemas["EventSearchLine"], { readonly end: true }>;

interface Found {
  readonly items: readonly Item[];
  readonly scanned: number;
  /** The end of the last scan; undefined while one is under way. */
  readonly end?: End | undefined;
  readonly error?: unknown;
}

/** The events whose payload matches, as the scan finds them; a button continues it. */
export function SearchedEvents({ asked, filters, showing, targets }: {
  readonly asked: ParametersOf<"searchEvents">;
  readonly filters: Search;
  readonly showing: Showing;
  readonly targets: Targets;
}): ReactNode {
  const [cursor, setCursor] = useState<string>();
  const [tries, setTries] = useState(0);
  const [found, setFound] = useState<Found>({ items: [], scanned: 0 });
  const selection = useSelection();
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    const scan = async () => {
      setFound(({ items, scanned }) => ({ items, scanned }));
      const from = cursor === undefined ? {} : { Cursor: cursor };
      for await (const line of relay.searchEvents({ ...asked, ...from }, { signal })) {
        if (signal.aborted) return;
        setFound(({ items, scanned }) => "end" in line
          ? { items, scanned: scanned + line.scanned, end: line }
          // A repeated scan finds the same events again.
          : { items: items.some(({ id }) => id === line.item.id) ? items : [...items, line.item], scanned });
      }
    };
    scan().catch((error: unknown) => {
      if (!signal.aborted) setFound((before) => ({ ...before, error }));
    });
    return () => ended.abort();
  }, [cursor, tries]);
  const { items, scanned, end, error } = found;
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
        />
      )}
      {items.length === 0 && end !== undefined && (
        <Empty act={<ClearFilters />}>No payload matches{more === null ? "" : " so far"}.</Empty>
      )}
    </>
  );
}
