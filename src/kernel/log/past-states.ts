import { requireOwn } from "../callers/access.ts";
import type { Caller } from "../callers/caller.ts";
import type { DomainEvent } from "../domain/domain-event.ts";
import { refuse } from "../domain/refusal.ts";
import type { EventStore, LogEntry, Position } from "../ports/event-store.ts";
import type { AggregateType, Aggregates } from "./aggregates.ts";
import { readPages } from "./long-reads.ts";
import type { Moment, Moments } from "./moments.ts";
import { refuseUnreadable } from "./unreadable.ts";

type Store = Pick<EventStore, "readStream">;

/** An aggregate as it was at a position; undefined before it began. Throws LogUnavailable or an UnreadableRecord. */
export async function stateAt<State, Event extends DomainEvent>(
  store: Store, type: AggregateType<State, Event>, id: string, position: Position,
): Promise<State | undefined> {
  const stream = type.stream(id);
  let state: State | undefined;
  const fold = (entry: LogEntry) => {
    if (entry.unreadable !== undefined) refuseUnreadable(`the record ${stream}`, entry);
    state = type.evolve(state, entry as unknown as Event, entry.position);
  };
  if (type.whole) {
    const entry = await newestAt(store, stream, position);
    if (entry) fold(entry);
    return state;
  }
  await readPages(store, stream, (page) => {
    const until = page.filter((entry) => entry.position <= position);
    until.forEach(fold);
    return until.length === page.length;
  });
  return state;
}

/** The newest entry of a stream at or before a position, found by bisection. Throws LogUnavailable. */
export async function newestAt(store: Store, stream: string, position: Position): Promise<LogEntry | undefined> {
  const [last] = await store.readStream(stream, { backwards: true, limit: 1 });
  if (!last || last.position <= position) return last;
  let found: LogEntry | undefined;
  let end = last.revision;
  for (let from = 0; from < end;) {
    const middle = from + Math.floor((end - from) / 2);
    const [entry] = await store.readStream(stream, { from: middle, limit: 1 });
    if (entry && entry.position <= position) {
      found = entry;
      from = entry.revision + 1;
    } else end = middle;
  }
  return found;
}

interface Deletable {
  readonly tenantId: string;
  readonly deleted: boolean;
}

/** The view of a thing of the caller's tenant at a moment. Refuses: invalid, not-found, forbidden, unavailable. */
export async function viewAsOf<State extends Deletable, Event extends DomainEvent, View extends object>(
  parts: { readonly store: EventStore; readonly aggregates: Aggregates; readonly moments: Moments },
  { type, id, name }: { readonly type: AggregateType<State, Event>; readonly id: string; readonly name: string },
  caller: Caller,
  asOf: string,
  viewOf: (state: State, moment: Moment) => View | Promise<View>,
): Promise<View & { readonly asOf: Moment }> {
  const { store, aggregates, moments } = parts;
  const asked = moments.read(asOf);
  const { state: present } = await aggregates.current(type, id);
  if (!present) refuse("not-found", `${name} not found`);
  requireOwn(present, caller, name);
  const { moment } = await moments.find(caller.tenantId, asked);
  const state = await stateAt(store, type, id, moment.position);
  if (!state || state.deleted) refuse("not-found", `${name} not found at that moment`);
  return { ...(await viewOf(state, moment)), asOf: moment };
}
