import type { EventDocument, EventFilter } from "../../../projections/events/events.ts";
import { payloadMatcher, type PayloadCondition } from "../../domain/event/payload-condition.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Clock } from "../../ports/clock/clock.ts";
import { sleep } from "../../ports/clock/sleep.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { Place } from "../../ports/read-models.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import { summariesOf } from "../events/event-summaries.ts";
import { hydrated, type HydratedEvent } from "../events/hydrated-events.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { PlatformKeys } from "../keys/platform-keys.ts";
import { LongReads } from "../long-reads.ts";
import { cursorOf } from "../paging.ts";
import type { EventSummaryView } from "../views.ts";
import type { EventListFilter } from "./events.ts";
import { narrowed } from "./narrowed.ts";

const most = { hits: 100, ms: 5_000, events: 200_000 };
const atOnce = 2;
const documentsAtOnce = 100;

/** What is searched for, and from where on. */
export interface SearchRequest {
  readonly filter: EventListFilter;
  readonly condition: PayloadCondition;
  readonly after: Place | undefined;
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

/** The documents to search, in pages. */
interface Pages {
  readonly first: readonly EventDocument[];
  readonly pageAfter: (place?: Place) => Promise<readonly EventDocument[]>;
}

interface EventSearchParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly shown: ShownEvents;
  readonly keys: PlatformKeys;
  readonly clock: Clock;
}

/** Scans payloads, which no index has: in small portions, and at rest for half of the time, so that others go on. */
export class EventSearch {
  readonly #parts: EventSearchParts;
  readonly #reads = new LongReads();
  /** The searches under way, by tenant. */
  readonly #running = new Map<string, number>();

  constructor(parts: EventSearchParts) {
    this.#parts = parts;
  }

  /**
   * Searches the tenant's events, the newest first, until there are enough hits, or it was long enough. `gone` ends it.
   * Throws a Refusal (unavailable) where the tenant has enough searches under way, or the read models are behind.
   */
  async search(
    { tenantId }: Caller, request: SearchRequest, gone: AbortSignal,
  ): Promise<AsyncIterable<readonly SearchLine[]>> {
    const end = this.#begin(tenantId, gone);
    try {
      const filter = await narrowed(this.#parts, { tenantId, ...request.filter });
      const pageAfter = async (after?: Place) => (filter ? this.#page(filter, after) : []);
      const first = await pageAfter(request.after);
      return this.#lines(tenantId, request, { first, pageAfter }, gone);
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Counts a search until its request is over, whether or not its answer is read. */
  #begin(tenantId: string, gone: AbortSignal): () => void {
    const others = this.#running.get(tenantId) ?? 0;
    if (others >= atOnce) refuse("unavailable", `${atOnce} searches are under way; try again when one is done`);
    this.#running.set(tenantId, others + 1);
    const end = () => {
      gone.removeEventListener("abort", end);
      const left = (this.#running.get(tenantId) ?? 1) - 1;
      if (left > 0) this.#running.set(tenantId, left);
      else this.#running.delete(tenantId);
    };
    if (gone.aborted) end();
    else gone.addEventListener("abort", end);
    return end;
  }

  async *#lines(
    tenantId: string, { condition, filter, list }: SearchRequest, { first, pageAfter }: Pages, gone: AbortSignal,
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
        if (gone.aborted) return;
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

  #page(filter: EventFilter, after: Place | undefined): Promise<readonly EventDocument[]> {
    const { shown } = this.#parts;
    const order = { field: "id", descending: true };
    const slice = { order, limit: documentsAtOnce, ...(after && { after }) };
    return shown.ask(filter.tenantId, () => shown.page(filter, slice));
  }
}

function placeOf({ id }: EventDocument): Place {
  return { value: id, key: id };
}
