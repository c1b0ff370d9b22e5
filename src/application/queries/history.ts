import type { DomainEvent } from "../../domain/domain-event.ts";
import { historyItem, type HistoryItem } from "../../domain/history-fields.ts";
import { refuse } from "../../domain/refusal.ts";
import { noStream, type EventStore, type LogEntry } from "../../ports/event-store.ts";
import { requireOwn } from "../access.ts";
import type { Aggregates, AggregateType } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import { numberedPlace, pageFrom, placeOfNumber, type Page, type PageRequest } from "../paging.ts";
import { refuseUnreadable } from "../unreadable.ts";

/**
 * A page of the facts of a stream that was never deleted: its revisions count from 0 without a gap. Only the newest
 * fact and the page itself are read, however many there are. Throws LogUnavailable, or a Refusal where one of the
 * page cannot be read.
 */
export async function historyPage(store: EventStore, stream: string, request: PageRequest): Promise<Page<HistoryItem>> {
  const [newest] = await store.readStream(stream, { backwards: true, limit: 1 });
  const last = newest?.revision ?? noStream;
  const after = numberedPlace(request);
  const backwards = request.order.descending;
  const page = await pageFrom<LogEntry>(request, {
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
  return { ...page, items: page.items.map(shown) };
}

function shown(fact: LogEntry): HistoryItem {
  if (fact.unreadable !== undefined) refuseUnreadable("a fact of this history", fact);
  return historyItem(fact);
}

/**
 * A page of the facts about something of the caller's tenant, deleted or not; `stream`: the stream that has them, its
 * own unless given. Throws a Refusal (not-found, forbidden), and as {@link historyPage} does.
 */
export async function ownHistory<State extends { readonly tenantId: string }, Event extends DomainEvent>(
  { store, aggregates }: { readonly store: EventStore; readonly aggregates: Aggregates },
  { type, id, name, stream = type.stream(id) }: {
    readonly type: AggregateType<State, Event>; readonly id: string; readonly name: string; readonly stream?: string;
  },
  caller: Caller,
  page: PageRequest,
): Promise<Page<HistoryItem>> {
  const { state } = await aggregates.current(type, id);
  if (!state) refuse("not-found", `${name} not found`);
  requireOwn(state, caller, name);
  return historyPage(store, stream, page);
}
