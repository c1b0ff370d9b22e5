import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode,
} from "react";
import { pagesPath, relay } from "../../api/relay.ts";
import { Icon, icons } from "../../parts/icon.tsx";
import { useKeys } from "../../parts/keys.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { Moment } from "../../parts/time.tsx";
import { durationText } from "../../parts/times.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { valueAt } from "./columns.ts";
import styles from "./events.module.css";
import type { Item } from "./filters.ts";
import type { Selection } from "./selection.ts";

/** Heights of a row, px: in one line; in two on narrow screens, in three with columns from the payload. */
const rowPx = { wide: 36, narrow: 56, narrowWithColumns: 84 };
const narrow = "(max-width: 640px)";

/**
 * The events as a list box: one place is active and moved by keys, Enter opens its panel, Space selects it. Only the
 * rows on screen are in the document.
 */
export function EventList({ count, at, show, selection, opened, open, close, nameOf, columns }: {
  readonly count: number;
  /** The event at a place; undefined while it is being loaded. */
  readonly at: (index: number) => Item | undefined;
  /** Receives the range of visible rows. */
  readonly show?: (first: number, last: number) => void;
  readonly selection: Selection;
  /** The event whose panel is open. */
  readonly opened: string | undefined;
  readonly open: (id: string) => void;
  readonly close: () => void;
  /** The name of a destination, from its id. */
  readonly nameOf: (destination: string) => string;
  /** Columns from the payload, as JSON Pointers. */
  readonly columns: readonly string[];
}): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const prefix = useId();
  const isNarrow = useMatch(narrow);
  const [active, setActive] = useState(0);
  const height = isNarrow ? columns.length > 0 ? rowPx.narrowWithColumns : rowPx.narrow : rowPx.wide;
  const rows = useVirtualizer({
    count, getScrollElement: () => box.current, estimateSize: () => height, overscan: 8,
  });
  useEffect(() => rows.measure(), [rows, height]);
  const shown = rows.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => show?.(first, last));

  const move = (to: number, extend = false) => {
    const next = Math.max(0, Math.min(count - 1, to));
    if (extend) selection.extend(between(active, next).map(at));
    setActive(next);
    rows.scrollToIndex(next);
    box.current?.focus({ preventScroll: true });
  };
  useKeys({
    j: { does: "Move to the next event", run: () => move(active + 1) },
    k: { does: "Move to the event before", run: () => move(active - 1) },
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
        if (event.ctrlKey || event.metaKey) window.open(addressOf(item.id), "_blank", "noopener");
        else open(item.id);
      },
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const onRow = (event: MouseEvent, index: number) => {
    const item = at(index);
    if (!item) return;
    const onMark = event.target instanceof Element && event.target.closest("[data-mark]") !== null;
    if (event.shiftKey) selection.extend(between(active, index).map(at));
    else if (onMark || event.ctrlKey || event.metaKey) selection.toggle(item);
    else open(item.id);
    setActive(index);
  };
  return (
    <div className={styles.eventList}>
      <div className={classes(styles.eventRow, styles.eventHead)} aria-hidden="true">
        <span /><span>Status</span><span>Accepted</span><span>Event, key</span><span>Type</span><span>Destination</span>
        <span className={shared.number}>Attempts</span><span>Last outcome</span>
        {columns.map((column) => (
          <span key={column} className={classes(styles.column, styles.clipped)} title={column}>{column}</span>
        ))}
      </div>
      <div
        ref={box} className={styles.eventBox} role="listbox" aria-label="Events" aria-multiselectable="true"
        tabIndex={0} aria-activedescendant={`${prefix}-${active}`} onKeyDown={onKeyDown}
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
              >
                {item ? <Cells item={item} selected={selection.has(item.id)} nameOf={nameOf} columns={columns} />
                  : <span className={styles.bone} aria-label="Loading" />}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Cells({ item, selected, nameOf, columns }: {
  readonly item: Item;
  readonly selected: boolean;
  readonly nameOf: (destination: string) => string;
  readonly columns: readonly string[];
}): ReactNode {
  const { id, idempotencyKey, status, acceptedAt, eventType, destinationUrlId, attempts, test } = item;
  return (
    <>
      <span className={styles.mark} data-mark aria-hidden="true">
        <Icon of={selected ? icons.squareCheck : icons.square} />
      </span>
      <span className={styles.cStatus}><EventStatus value={status} /></span>
      <span className={styles.cSecond}>
        <span className={styles.cTime}><Moment at={acceptedAt} /></span>
        <span className={styles.clipped}>
          <code>{id}</code>{idempotencyKey !== null && <small title={idempotencyKey}> {idempotencyKey}</small>}
        </span>
      </span>
      <span className={classes(styles.cType, styles.clipped)}>
        {test && <span className={styles.test}>test</span>}{eventType ?? "–"}
      </span>
      <span className={classes(styles.cDestination, styles.clipped)} title={nameOf(destinationUrlId)}>
        {nameOf(destinationUrlId).replace(/^https:\/\//, "")}
      </span>
      <span className={classes(styles.cAttempts, shared.number)}>
        {attempts}<span className={shared.hiddenText}> attempts</span>
      </span>
      <span className={classes(styles.cOutcome, styles.clipped)}>{outcomeText(item)}</span>
      {columns.length > 0 && <PayloadCells id={id} columns={columns} />}
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

/** The address of an event's own page. */
function addressOf(id: string): string {
  return `${pagesPath}/events/${id}`;
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

/** The values of an event's payload in the columns of the list. A payload never changes: it is read once. */
function PayloadCells({ id, columns }: { readonly id: string; readonly columns: readonly string[] }): ReactNode {
  const { data: payload } = useQuery({
    queryKey: ["getEvent", { id }, "payload"],
    queryFn: async ({ signal }) => (await relay.getEvent({ id }, { signal })).payload,
    staleTime: Infinity,
    gcTime: keptMs,
  });
  const values = useMemo(
    () => columns.map((column) => payload === undefined ? "" : valueAt(payload, column) ?? "–"), [columns, payload]);
  return (
    <span className={styles.cPayload}>
      {columns.map((column, at) => (
        <span key={column} className={classes(styles.column, styles.clipped)} title={values[at]}>
          <span className={shared.hiddenText}>{column} </span>{values[at]}
        </span>
      ))}
    </span>
  );
}
