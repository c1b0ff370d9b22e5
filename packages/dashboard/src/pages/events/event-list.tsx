import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode,
} from "react";
import { pagesPath, relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { MiddleCut } from "../../parts/copy.tsx";
import { Icon, icons } from "../../parts/icon.tsx";
import { useKeys } from "../../parts/keys.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { Ago } from "../../parts/time.tsx";
import { durationText } from "../../parts/times.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { columnText, valueAt } from "./columns.ts";
import styles from "./events.module.css";
import type { Item } from "./filters.ts";
import type { Place } from "./places.ts";
import { againOf, RowActs, type RowAct } from "./row-acts.tsx";
import type { Selection } from "./selection.ts";

/** Heights of a row, px: in one line; in two on narrow screens, in three with columns from the payload. */
const rowPx = { wide: 36, narrow: 56, narrowWithColumns: 84 };
const narrow = "(max-width: 640px)";
/** How long the active row stays the same before the open panel shows it, ms. */
const panelMs = 80;

/** How the list shows events: the open panel, how to open and close it, and the columns from payloads. */
export interface Showing {
  /** The event of the open panel. */
  readonly opened: string | undefined;
  readonly open: (id: string) => void;
  readonly close: () => void;
  /** Columns from the payload, as JSON Pointers. */
  readonly columns: readonly string[];
}

/**
 * The events as a list box: one place is active and moved by keys, Enter opens its panel, Space selects it. An open
 * panel follows the active row. Only the rows on screen are in the document.
 */
export function EventList({
  count, at, show, selection, opened, open, close, nameOf, columns, matchOf, place, act, scrolled,
}: Showing & {
  readonly count: number;
  /** The event at a place; undefined while it is being loaded. */
  readonly at: (index: number) => Item | undefined;
  /** Receives the range of visible rows. */
  readonly show?: (first: number, last: number) => void;
  readonly selection: Selection;
  /** The name of a destination, from its id. */
  readonly nameOf: (destination: string) => string;
  /** The text by which an event was found. */
  readonly matchOf?: (id: string) => string | undefined;
  /** Where the list stood when the page was left; it is kept up to date. */
  readonly place: Place;
  /** Acts on one event, after a question. */
  readonly act: (act: RowAct, item: Item) => void;
  /** Receives whether the list stands at its top. */
  readonly scrolled?: (isTop: boolean) => void;
}): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const may = useMay();
  const prefix = useId();
  const isNarrow = useMatch(narrow);
  const [active, setActive] = useState(place.active);
  const extra = columns.length > 0 || matchOf !== undefined;
  const height = isNarrow ? extra ? rowPx.narrowWithColumns : rowPx.narrow : rowPx.wide;
  const rows = useVirtualizer({
    count, getScrollElement: () => box.current, estimateSize: () => height, overscan: 8, initialOffset: place.offset,
    onChange: ({ scrollOffset }) => {
      place.offset = scrollOffset ?? 0;
      scrolled?.(place.offset === 0);
    },
  });
  useEffect(() => rows.measure(), [rows, height]);
  place.active = active;
  const shown = rows.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => show?.(first, last));
  const follow = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(follow.current), []);

  const move = (to: number, extend = false) => {
    const next = Math.max(0, Math.min(count - 1, to));
    if (extend) selection.extend(between(active, next).map(at));
    setActive(next);
    rows.scrollToIndex(next);
    box.current?.focus({ preventScroll: true });
    clearTimeout(follow.current);
    const item = at(next);
    if (opened !== undefined && item && !extend) follow.current = setTimeout(() => open(item.id), panelMs);
  };
  const activeItem = at(active);
  const fitting = activeItem && !activeItem.test && selection.ids.length === 0 ? againOf(activeItem.status) : undefined;
  const again = fitting !== undefined && may(fitting) ? fitting : undefined;
  useKeys({
    j: { does: "Move to the next event", run: () => move(active + 1) },
    k: { does: "Move to the event before", run: () => move(active - 1) },
    ...activeItem && again !== undefined && {
      r: { does: "Send the active event again", run: () => act(again, activeItem) },
    },
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const item = at(active);
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(active + 1, event.shiftKey),
      ArrowUp: () => move(active - 1, event.shiftKey),
      PageDown: () => move(active + (last - first), event.shiftKey),
      PageUp: () => move(active - (last - first), event.shiftKey),
      Home: () => move(0, false),
      End: () => move(count - 1, false),
      " ": () => item && selection.toggle(item),
      Escape: close,
      Enter: () => {
        if (!item) return;
        if (event.ctrlKey || event.metaKey) openTab(item.id);
        else open(item.id);
      },
    };
    const run = acts[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  };
  const onRow = (event: MouseEvent, index: number) => {
    const item = at(index);
    if (!item || !(event.target instanceof Element)) return;
    const named = event.target.closest<HTMLElement>("[data-act]")?.dataset["act"];
    if (event.button === 1 || event.ctrlKey || event.metaKey || named === "tab") return openTab(item.id);
    setActive(index);
    if (named !== undefined) act(named as RowAct, item);
    else if (event.shiftKey) selection.extend(between(active, index).map(at));
    else if (event.target.closest("[data-mark=true]")) selection.toggle(item);
    else open(item.id);
  };
  return (
    <div className={styles.eventList}>
      <div className={classes(styles.eventRow, styles.eventHead)} aria-hidden="true">
        <span /><span>Status</span><span className={styles.cTime}>Accepted</span><span>Key</span>
        <span className={styles.cType}>Type</span><span className={styles.cId}>Event</span><span>Destination</span>
        <span className={classes(styles.cAttempts, shared.number)}>Attempts</span>
        <span className={styles.cOutcome}>Last outcome</span>
        {matchOf && <span className={styles.column}>Match</span>}
        {columns.map((column) => (
          <span key={column} className={classes(styles.column, styles.clipped)} title={column}>{column}</span>
        ))}
      </div>
      <div
        ref={box} className={styles.eventBox} role="listbox" aria-label="Events"
        aria-multiselectable={selection.isPossible} tabIndex={0} aria-activedescendant={`${prefix}-${active}`}
        onKeyDown={onKeyDown}
      >
        <div className={styles.eventRows} role="presentation" style={{ height: rows.getTotalSize() }}>
          {shown.map(({ index, start, size }) => {
            const item = at(index);
            return (
              <div
                key={index} id={`${prefix}-${index}`} role="option" className={styles.eventRow}
                aria-selected={item !== undefined && selection.has(item.id)} aria-setsize={count}
                aria-posinset={index + 1} aria-current={item !== undefined && item.id === opened}
                data-active={index === active} style={{ height: size, transform: `translateY(${start}px)` }}
                onClick={(event) => onRow(event, index)}
                onAuxClick={(event) => event.button === 1 && onRow(event, index)}
                // The middle button would scroll.
                onMouseDown={(event) => event.button === 1 && event.preventDefault()}
              >
                {item ? (
                  <Cells
                    item={item} selected={selection.isPossible ? selection.has(item.id) : undefined}
                    nameOf={nameOf} columns={columns} match={matchOf && (matchOf(item.id) ?? "")}
                  />
                ) : <span className={styles.bone} aria-label="Loading" />}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Cells({ item, selected, nameOf, columns, match }: {
  readonly item: Item;
  /** Undefined where nothing can be selected. */
  readonly selected: boolean | undefined;
  readonly nameOf: (destination: string) => string;
  readonly columns: readonly string[];
  readonly match: string | undefined;
}): ReactNode {
  const { id, idempotencyKey, status, acceptedAt, eventType, destinationUrlId, attempts, test } = item;
  return (
    <>
      <span className={styles.mark} data-mark={selected !== undefined} aria-hidden="true">
        {selected !== undefined && <Icon of={selected ? icons.squareCheck : icons.square} />}
      </span>
      <span className={styles.cStatus}><EventStatus value={status} /></span>
      <span className={styles.cTime}><Ago to={acceptedAt} /></span>
      <span className={classes(styles.cKey, styles.clipped)} title={idempotencyKey ?? undefined}>
        {test && <span className={styles.test}>test</span>}
        {idempotencyKey ?? (
          <><span className={styles.noKey}>–</span><span className={styles.keyId}>{id.slice(0, 13)}</span></>
        )}
      </span>
      <span className={classes(styles.cType, styles.clipped)} title={eventType ?? undefined}>{eventType ?? "–"}</span>
      <span className={styles.cId}><code title={id}>{id}</code></span>
      <span className={styles.cDestination}><MiddleCut text={nameOf(destinationUrlId)} /></span>
      <span className={classes(styles.cAttempts, shared.number)}>
        {attempts}<span className={shared.hiddenText}> attempts</span>
      </span>
      <span className={classes(styles.cOutcome, styles.clipped)}>{outcomeText(item)}</span>
      {(columns.length > 0 || match !== undefined) && (
        <span className={styles.cPayload}>
          {match !== undefined && (
            <span className={classes(styles.column, styles.clipped)} title={match}>
              <span className={shared.hiddenText}>Match </span><mark>{match}</mark>
            </span>
          )}
          {columns.length > 0 && (item.columns
            ? <PayloadCells columns={columns} values={item.columns.map(columnText)} />
            : <ReadPayloadCells id={id} columns={columns} />
          )}
        </span>
      )}
      <RowActs item={item} />
    </>
  );
}

/** The last outcome in words: `500 in 3 ms`, `timeout in 2 s`, `in flight`. */
export function outcomeText({ lastAttempt }: Item): string {
  if (lastAttempt === null) return "not tried yet";
  const { outcome, statusCode, reason, durationMs } = lastAttempt;
  if (outcome === "in progress") return "in flight";
  const word = statusCode === null ? reason ?? outcome : String(statusCode);
  return durationMs === null ? word : `${word} in ${durationText(durationMs)}`;
}

/** Opens an event's own page in a tab. */
function openTab(id: string): void {
  window.open(`${pagesPath}/events/${id}`, "_blank", "noopener");
}

/** The places from one to another, both included; at most as many as an act takes by id. */
function between(one: number, other: number): readonly number[] {
  const from = Math.min(one, other);
  return Array.from({ length: Math.min(Math.abs(one - other) + 1, 1_000) }, (_, index) => from + index);
}

function useMatch(media: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(media).matches);
  useEffect(() => {
    const list = matchMedia(media);
    const onChange = () => setMatches(list.matches);
    list.addEventListener("change", onChange);
    return () => list.removeEventListener("change", onChange);
  }, [media]);
  return matches;
}

/** How long payloads of rows that are not shown are kept, ms. */
const keptMs = 30_000;

/** The values of an event's payload in the columns of the list. */
function PayloadCells({ columns, values }: {
  readonly columns: readonly string[]; readonly values: readonly string[];
}): ReactNode {
  return columns.map((column, at) => (
    <span key={column} className={classes(styles.column, styles.clipped)} title={values[at]}>
      <span className={shared.hiddenText}>{column} </span>{values[at]}
    </span>
  ));
}

/** The same of an event that a search found: it answers no columns. A payload never changes: it is read once. */
function ReadPayloadCells({ id, columns }: { readonly id: string; readonly columns: readonly string[] }): ReactNode {
  const { data: payload } = useQuery({
    queryKey: ["getEvent", { id }, "payload"],
    queryFn: async ({ signal }) => (await relay.getEvent({ id }, { signal })).payload,
    staleTime: Infinity,
    gcTime: keptMs,
  });
  const values = useMemo(
    () => columns.map((column) => payload === undefined ? "" : valueAt(payload, column) ?? "–"), [columns, payload]);
  return <PayloadCells columns={columns} values={values} />;
}
