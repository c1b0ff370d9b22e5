import listHistory from "../../schemas/requests/list-history.json" with { type: "json" };
import { requireOwn } from "../kernel/callers/access.ts";
import type { Caller } from "../kernel/callers/caller.ts";
import { parseOptionalDateTime } from "../kernel/callers/input-rules.ts";
import type { Actor, DomainEvent } from "../kernel/domain/domain-event.ts";
import { refuse } from "../kernel/domain/refusal.ts";
import type { Aggregates, AggregateType } from "../kernel/log/aggregates.ts";
import { readPages } from "../kernel/log/long-reads.ts";
import { refuseUnreadable } from "../kernel/log/unreadable.ts";
import { extended } from "../kernel/operations/extended.ts";
import type { ListRequest } from "../kernel/operations/query-parameters.ts";
import { noStream, type EventStore, type LogEntry, type RecordedEvent } from "../kernel/ports/event-store.ts";
import {
  cut, numberedPlace, pageFrom, placeOfNumber, sliceOf, type Page, type PageRequest,
} from "../kernel/read-models/paging.ts";
import { changesOfFacts, type SettingChange } from "./changes.ts";
import { type HistoryItem, historyItem, histories, type HistoryName } from "./facts.ts";
import { namesOf, type Named, type NameParts, type WithName } from "./names.ts";

/** Which facts of a history are wanted, all unless said; `from` and `to` are inclusive. */
export interface HistoryFilter {
  readonly type?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Only facts whose data names this, of a stream that has facts of several things. */
  readonly subject?: { readonly field: string; readonly id: string } | undefined;
}

/** Which part of a history is wanted. */
export interface HistoryRequest extends PageRequest, HistoryFilter {}

interface HistoryParts extends NameParts {
  readonly store: EventStore;
}

/** A fact of a history with the settings that it changed, and the name of its actor. */
export interface ToldFact extends HistoryItem {
  readonly actor: WithName<Actor>;
  /** Absent if it changed no setting. */
  readonly changes?: readonly SettingChange[];
}

/** Facts with the settings that they changed, and with the names of actors and subjects. */
export async function told<Item extends HistoryItem & { readonly subject?: Named }>(
  parts: HistoryParts, caller: Caller, items: readonly Item[], streamOf: (item: Item) => string,
): Promise<readonly (Item & ToldFact)[]> {
  const [changes, named] = await Promise.all([
    changesOfFacts(parts.store, caller.tenantId, items.map((item) => ({ ...item, stream: streamOf(item) }))),
    namesOf(parts, caller, items.flatMap(({ actor, subject }) => (subject ? [actor, subject] : [actor]))),
  ]);
  return items.map((item, at) => {
    const { actor, subject } = item;
    const own = changes[at];
    return { ...item, actor: named(actor), ...(subject && { subject: named(subject) }), ...(own && { changes: own }) };
  });
}

/** A page of a stream's facts; a filter reads the whole stream. Throws LogUnavailable, or a Refusal. */
export async function historyPage(
  parts: HistoryParts, caller: Caller, stream: string, asked: HistoryRequest,
): Promise<Page<ToldFact>> {
  const { store } = parts;
  const isWhole = [asked.type, asked.from, asked.to, asked.subject].every((filter) => filter === undefined);
  const page = await (isWhole ? wholePage(store, stream, asked) : filteredPage(store, caller.tenantId, stream, asked));
  const items = page.items.map((fact) => historyItem(readable(fact)));
  return { ...page, items: await told(parts, caller, items, () => stream) };
}

async function wholePage(store: EventStore, stream: string, request: PageRequest): Promise<Page<LogEntry>> {
  const [newest] = await store.readStream(stream, { backwards: true, limit: 1 });
  const last = newest?.revision ?? noStream;
  const after = numberedPlace(request);
  const backwards = request.order.descending;
  return pageFrom<LogEntry>(request, {
    count: async () => last + 1,
    find: async ({ offset = 0, limit }) => {
      const skipped = after === undefined ? offset : backwards ? last - after + 1 : after + 1;
      // Facts appended meanwhile are beyond the total, so they are not asked for.
      const left = Math.min(limit, last + 1 - skipped);
      const from = backwards ? last - skipped : skipped;
      return left > 0 ? store.readStream(stream, { from, limit: left, backwards }) : [];
    },
    placeOf: ({ revision }) => placeOfNumber(revision),
  });
}

async function filteredPage(
  store: EventStore, asker: string, stream: string, asked: HistoryRequest,
): Promise<Page<LogEntry>> {
  const { offset = 0, limit } = sliceOf(asked);
  const after = numberedPlace(asked);
  const backwards = asked.order.descending;
  const found: LogEntry[] = [];
  let total = 0;
  const isBehind = ({ revision }: LogEntry) =>
    after === undefined ? total > offset : backwards ? revision < after : revision > after;
  await readPages(store, stream, (page) => {
    for (const fact of page) {
      if (!isWanted(fact, asked)) continue;
      total += 1;
      if (found.length < limit && isBehind(fact)) found.push(fact);
    }
    return asked.total || found.length < limit;
  }, { backwards, asker });
  return { ...(asked.total && { total }), ...cut(asked, found, ({ revision }) => placeOfNumber(revision)) };
}

/** Whether a filter lets a fact through. Throws a Refusal where that depends on a fact which cannot be read. */
export function isWanted(fact: LogEntry, { type, from, to, subject }: HistoryFilter): boolean {
  if (type !== undefined && fact.type !== type) return false;
  if (subject && (readable(fact).data as Readonly<Record<string, unknown>>)[subject.field] !== subject.id) return false;
  if (from === undefined && to === undefined) return true;
  const { at } = readable(fact).metadata;
  return (from === undefined || at >= from) && (to === undefined || at <= to);
}

function readable(fact: LogEntry): RecordedEvent {
  return fact.unreadable === undefined ? fact : refuseUnreadable("a fact of this history", fact);
}

/** A page of facts about a record of the caller's tenant, deleted or not. Throws a Refusal (not-found, forbidden). */
export async function ownHistory<State extends { readonly tenantId: string }, Event extends DomainEvent>(
  parts: HistoryParts & { readonly aggregates: Aggregates },
  { type, id, name, stream = type.stream(id) }: {
    readonly type: AggregateType<State, Event>; readonly id: string; readonly name: string; readonly stream?: string;
  },
  caller: Caller,
  asked: HistoryRequest,
): Promise<Page<ToldFact>> {
  const { state } = await parts.aggregates.current(type, id);
  if (!state) refuse("not-found", `${name} not found`);
  requireOwn(state, caller, name);
  return historyPage(parts, caller, stream, asked);
}

interface HistoryFilters {
  readonly Type?: string;
  readonly From?: string;
  readonly To?: string;
}

/** The parameters of each history: its types are those of the facts that it can have. */
export const historyLists = Object.fromEntries(Object.entries(histories).map(([name, types]) => {
  const own = { $id: `${listHistory.$id}:${name}`, properties: { Type: { enum: types } } };
  return [name, extended(listHistory, own)];
})) as Readonly<Record<HistoryName, ReturnType<typeof extended>>>;

/** The part of a history that the parameters ask for. Throws a Refusal (invalid). */
export function historyRequest({ page, filters }: ListRequest<HistoryFilters>): HistoryRequest {
  const { Type: type, From, To } = filters;
  return { ...page, type, from: parseOptionalDateTime("From", From), to: parseOptionalDateTime("To", To) };
}
