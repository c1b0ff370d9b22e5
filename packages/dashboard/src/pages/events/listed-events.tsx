import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { isPortal } from "../../api/relay.ts";
import type { Search } from "../../app/search.ts";
import { Icon, icons } from "../../parts/icon.tsx";
import type { Targets } from "../../parts/names.tsx";
import { Answered, Empty } from "../../parts/states.tsx";
import { useLoaded } from "../../parts/use-loaded.ts";
import shared from "../../style/shared.module.css";
import { RowBones } from "./bones.tsx";
import { columnsParameter } from "./columns.ts";
import { EventList, type Showing } from "./event-list.tsx";
import styles from "./events.module.css";
import { ClearFilters } from "./filter-bar.tsx";
import { parametersOf } from "./filters.ts";
import type { Place } from "./places.ts";
import { mostRows, useRows } from "./rows.ts";
import { useSelection } from "./selection.ts";
import { useAct } from "./use-act.tsx";

const loadBulk = () => import("./bulk-acts.tsx");

/** The events that match the filters, as they were when the list was loaded. */
export function ListedEvents({ filters, place, reload, showing, targets }: {
  readonly filters: Search;
  readonly place: Place;
  /** Loads the list again, from the newest event now. */
  readonly reload: () => void;
  readonly showing: Showing;
  readonly targets: Targets;
}): ReactNode {
  const rows = useRows({ ...parametersOf(filters), ...columnsParameter(showing.columns) }, place);
  const selection = useSelection();
  const { act, dialog } = useAct();
  const bulk = useLoaded(loadBulk);
  const filtered = Object.keys(filters).length > 0;
  return (
    <Answered query={rows.first} loading={<RowBones />}>
      {({ items }) => (
        <>
          <div className={styles.listHead}>
            <p className={shared.small} role="status">{items.length > 0 && totalText(rows.total)}</p>
            {rows.fresh > 0 && (
              <button type="button" className={styles.pill} onClick={reload}>
                <Icon of={icons.arrowUp} size={14} /> {rows.fresh >= 100 ? "100 or more" : rows.fresh} new
              </button>
            )}
            {bulk.module && (
              <bulk.module.BulkActs filters={filters} newest={rows.newest} selection={selection} targets={targets} />
            )}
          </div>
          {items.length > 0 ? (
            <EventList
              {...rows} {...showing} selection={selection} nameOf={targets.nameOf} place={place} act={act}
            />
          ) : filtered ? <Empty act={<ClearFilters />}>No event matches these filters.</Empty> : (
            <Empty act={!isPortal && <Link to="/start" className={shared.button}>First steps</Link>}>
              No event yet. Every webhook that is posted to the relay is listed here, with all that became of it.
            </Empty>
          )}
          {dialog}
        </>
      )}
    </Answered>
  );
}

function totalText(total: number | undefined): string {
  if (total === undefined) return "Counting…";
  if (total > mostRows) {
    return `${total} events match. The newest ${mostRows} are listed: choose a time in the histogram for others.`;
  }
  return total === 1 ? "1 event" : `${total} events`;
}
