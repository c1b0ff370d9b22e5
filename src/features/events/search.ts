import type { EventDocument, EventFilter } from "../../../projections/events/events.ts";
import { withinAudience } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { LongReads } from "../../kernel/log/long-reads.ts";
import { sleep } from "../../kernel/ports/clock.ts";
import type { PlaceInOrder } from "../../kernel/ports/read-models.ts";
import { cursorOf } from "../../kernel/read-models/paging.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { type EventSummaryView, summariesOf, hydrated, type HydratedEvent } from "./event-summaries.ts";
import { payloadMatcher, type PayloadCondition } from "./payload-condition.ts";
import type { EventListFilter } from "./queries.ts";
import type { ShownEvents } from "./shown-events.ts";
import { loadShownByKey, type ShownSources } from "./webhooks.ts";

const most = { hits: 100, ms: 5_000, events: 200_000 };
const atOnce = 2;
const documentsAtOnce = 100;

/** What is searched for, from where on, and for whom. */
export interface SearchRequest {
  readonly sessionId: string;
  readonly filter: EventListFilter;
  readonly condition: PayloadCondition;
  readonly after: PlaceInOrder | undefined;
  /** As that of a {@link PageRequest}: names the search, for its cursors. */
  readonly list: string;
}

/** A line of a search's answer: an event that was found, or the end. */
export type SearchLine =
  | {
      readonly item: EventSummaryView;
      /** The text that was found with some of what is around it, or the value at the pointer. */
      readonly match: string;
    }
  | {
      readonly end: true;
      readonly scanned: number;
      /** The acceptance of the last event that was looked at; null for none. */
      readonly until: string | null;
      readonly nextCursor: string | null;
    };

interface Pages {
  readonly first: readonly EventDocument[];
  readonly pageAfter: (place?: PlaceInOrder) => Promise<readonly EventDocument[]>;
}

/** Scans payloads, which no index has: in small portions, and at rest for half of the time, so that others go on. */
export class EventSearch {
  readonly #parts;
  readonly #reads = new LongReads();
  readonly #running = new Map<string, Map<string, AbortController>>();

  constructor(
    parts: ShownSources & Pick<KernelParts, "clock">
      & { readonly shown: ShownEvents; readonly keys: PlatformKeys },
  ) {
    this.#parts = parts;
  }

  /** Searches the tenant's newest events for a bounded time, until `over` fires or the session searches again. */
  async search(
    caller: Caller, request: SearchRequest, over: AbortSignal,
  ): Promise<AsyncIterable<readonly SearchLine[]>> {
    const { tenantId } = caller;
    const own = { tenantId, ...withinAudience(caller, request.filter) };
    const search = this.#begin(tenantId, request.sessionId, over);
    try {
      const filter = await narrowed(this.#parts, own);
      const pageAfter = async (after?: PlaceInOrder) => (filter ? this.#page(filter, after) : []);
      const first = await pageAfter(request.after);
      return this.#lines(tenantId, request, { first, pageAfter }, search.signal);
    } catch (error) {
      search.abort();
      throw error;
    }
  }

  /** Counts a search until it is aborted: by the end of its request, read or not, or by the next one of its session. */
  #begin(tenantId: string, sessionId: string, over: AbortSignal): AbortController {
    this.#running.get(tenantId)?.get(sessionId)?.abort();
    const running = this.#running.get(tenantId) ?? new Map<string, AbortController>();
    this.#running.set(tenantId, running);
    if (running.size >= atOnce) refuse("unavailable", `${atOnce} searches are under way; try again when one is done`);
    const search = new AbortController();
    running.set(sessionId, search);
    search.signal.addEventListener("abort", () => {
      if (running.get(sessionId) === search) running.delete(sessionId);
      if (running.size === 0 && this.#running.get(tenantId) === running) this.#running.delete(tenantId);
    });
    if (over.aborted) search.abort();
    else over.addEventListener("abort", () => search.abort());
    return search;
  }

  async *#lines(
    tenantId: string, { condition, filter, list }: SearchRequest, { first, pageAfter }: Pages, over: AbortSignal,
  ): AsyncGenerator<readonly SearchLine[], void> {
    const { store, clock } = this.#parts;
    const matchOf = payloadMatcher(condition);
    const hasKey = ({ idempotencyKey: key }: EventDocument) =>
      filter.idempotencyKey === undefined || filter.idempotencyKey === key;
    const until = clock.monotonic() + most.ms;
    let [scanned, hits] = [0, 0];
    let last: EventDocument | undefined;
    const isEnough = () => hits >= most.hits || scanned >= most.events || clock.monotonic() >= until;
    let isOver = false;
    for (let documents = first; !isOver;) {
      let begun = clock.monotonic();
      for await (const part of hydrated({ store, reads: this.#reads }, tenantId, documents)) {
        if (over.aborted) return;
        const found: HydratedEvent[] = [];
        const matches: string[] = [];
        for (const event of part) {
          last = event.document;
          scanned += 1;
          const match = event.view && hasKey(event.document) ? matchOf(event.view.payload) : null;
          if (match !== null) {
            found.push(event);
            matches.push(match);
          }
          if (hits + found.length >= most.hits || scanned >= most.events) break;
        }
        const items = await summariesOf(this.#parts, tenantId, found);
        hits += found.length;
        if (items.length > 0) yield items.map((item, at) => ({ item, match: matches[at]! }));
        if (isEnough()) break;
        await sleep(clock, clock.monotonic() - begun);
        begun = clock.monotonic();
      }
      isOver = documents.length < documentsAtOnce && last?.id === documents.at(-1)?.id;
      if (isOver || isEnough()) break;
      documents = await pageAfter(last && placeOf(last));
      isOver = documents.length === 0;
    }
    const nextCursor = isOver || !last ? null : cursorOf(list, placeOf(last));
    yield [{ end: true, scanned, until: last?.acceptedAt ?? null, nextCursor }];
  }

  #page(filter: EventFilter, after: PlaceInOrder | undefined): Promise<readonly EventDocument[]> {
    const { shown } = this.#parts;
    const order = { field: "id", descending: true };
    const slice = { order, limit: documentsAtOnce, ...(after && { after }) };
    return shown.ask(filter.tenantId, () => shown.page(filter, slice));
  }
}

function placeOf({ id }: EventDocument): PlaceInOrder {
  return { value: id, key: id };
}

/** The filter of a walk, narrowed to the moment of the event with the idempotency key; null where no event has it. */
export async function narrowed(
  sources: Parameters<typeof loadShownByKey>[0], filter: EventFilter & EventListFilter,
): Promise<(EventFilter & EventListFilter) | null> {
  const { tenantId, idempotencyKey, from = "", to } = filter;
  if (idempotencyKey === undefined) return filter;
  const found = await loadShownByKey(sources, tenantId, idempotencyKey);
  if (!found) return null;
  const { acceptedAt: at } = found;
  return { ...filter, from: from > at ? from : at, to: to !== undefined && to < at ? to : at };
}
