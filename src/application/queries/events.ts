import { isSelected, type EventDocument, type EventFilter } from "../../../projections/events/events.ts";
import type { components } from "../../../schemas/api.ts";
import { eventStatuses, type WebhookEvent } from "../../domain/event/events.ts";
import { evolve, type Webhook, type WebhookState } from "../../domain/event/state.ts";
import { historyItem, type HistoryItem } from "../../domain/history-fields.ts";
import { refuse } from "../../domain/refusal.ts";
import { streams } from "../../domain/streams.ts";
import type { EventStore, RecordedEvent } from "../../ports/event-store.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { requireOwn } from "../access.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { storyOf, type Chronicle } from "../events/story.ts";
import { loadShown, loadShownByKey, wholeFact, type LoadedWebhook } from "../events/webhooks.ts";
import type { Freshness } from "../freshness.ts";
import type { PlatformKeys } from "../keys/platform-keys.ts";
import { LongReads } from "../long-reads.ts";
import type { Moments } from "../moments.ts";
import { pageFrom, pageOf, type PageInParts, type PageRequest } from "../paging.ts";
import { eventView, type AttemptView, type EventView, type StoryView } from "../views.ts";
import { attemptsOf } from "./attempts.ts";
import { isWanted, type HistoryRequest } from "./history.ts";

/** Attempts or facts whose requests and answers, of unknown size, are read at once. */
const partSize = 4;
/** Events whose payloads are read first, before it is known how large they are. */
const firstEvents = 1;
/** Most events whose payloads are read at once after the first read, as they may be larger. Usual pages take two. */
const mostEvents = 19;
/** Characters of payloads in one part, unless one event alone has more. */
const charactersAtOnce = 256 * 1024;

/** Filters of a list of a tenant's events. */
export interface EventListFilter extends Omit<EventFilter, "tenantId"> {
  readonly idempotencyKey?: string | undefined;
}

/** How many events there are, in all and in each status. */
export type EventTotals = Readonly<components["schemas"]["EventTotals"]>;

interface EventQueryParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly shown: ShownEvents;
  readonly keys: PlatformKeys;
  readonly moments: Moments;
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
}

/** Queries about accepted events. */
export class EventQueries {
  readonly #parts: EventQueryParts;
  /** Bounds the parts of lists that are read at once; apart from reads of long histories, which take longer. */
  readonly #listReads = new LongReads();

  constructor(parts: EventQueryParts) {
    this.#parts = parts;
  }

  /** As it is, or was at a moment. Throws a Refusal (invalid, not-found, forbidden, unavailable). */
  async get(caller: Caller, id: string, asOf?: string): Promise<EventView> {
    if (asOf === undefined) return eventView((await this.#load(caller, id)).state);
    const { event, moment } = await this.#chronicle(caller, id, asOf);
    return { ...eventView(event), asOf: moment };
  }

  /** What happened to it and why, up to now or to a moment. Throws as {@link get} does. */
  async story(caller: Caller, id: string, asOf?: string): Promise<StoryView> {
    const chronicle = await this.#chronicle(caller, id, asOf);
    const { event, moment } = chronicle;
    return { asOf: moment, event: eventView(event), ...(await storyOf(this.#parts, chronicle)) };
  }

  /** Every attempt to deliver the event, first one first. Throws a Refusal (not-found, forbidden). */
  async attempts(caller: Caller, id: string, page: PageRequest): Promise<PageInParts<AttemptView>> {
    const loaded = await this.#load(caller, id);
    const { items, ...ends } = pageOf(attemptsOf(loaded.facts), page, ({ number }) => number);
    const wholeOf = async ({ number }: AttemptView) => {
      const own = loaded.facts.filter(({ data }) => "attempt" in data && data.attempt === number);
      const facts = await Promise.all(own.map((fact) => this.#whole(caller, loaded, fact)));
      return facts.every((fact) => fact !== undefined) ? attemptsOf(facts)[0] : undefined;
    };
    return { ...ends, parts: inParts(items, wholeOf) };
  }

  /** Every fact of the event. Throws a Refusal (not-found, forbidden). */
  async history(caller: Caller, id: string, asked: HistoryRequest): Promise<PageInParts<HistoryItem>> {
    const loaded = await this.#load(caller, id);
    const wanted = loaded.facts.filter((fact) => isWanted(fact, asked));
    const { items, ...ends } = pageOf(wanted, asked, ({ revision }) => revision);
    const wholeOf = async (outline: RecordedEvent<WebhookEvent>) => {
      const fact = await this.#whole(caller, loaded, outline);
      return fact && historyItem(fact);
    };
    return { ...ends, parts: inParts(items, wholeOf) };
  }

  /**
   * The events of the caller's tenant; a page of large ones takes no more memory than a few of them. The one that has
   * an idempotency key is read from its own stream, without the read models. Throws a Refusal (unavailable) when they
   * are behind; its parts throw LogUnavailable.
   */
  async list(
    { tenantId }: Caller, { idempotencyKey, ...filter }: EventListFilter, page: PageRequest,
  ): Promise<PageInParts<EventView>> {
    const { shown } = this.#parts;
    const wanted = { tenantId, ...filter };
    if (idempotencyKey !== undefined) {
      const { items, ...ends } = pageOf(await this.#withKey(idempotencyKey, wanted), page, () => 0);
      return { ...ends, parts: [items] };
    }
    const { items, ...ends } = await shown.ask(tenantId, () => pageFrom<EventDocument>(page, {
      count: () => shown.count(wanted),
      find: (slice) => shown.page(wanted, slice),
      placeOf: ({ id }) => ({ value: id, key: id }),
    }));
    return { ...ends, parts: { [Symbol.asyncIterator]: () => this.#hydrated(tenantId, items) } };
  }

  /**
   * Counts the events of the caller's tenant, but for test events. Throws a Refusal (unavailable) when the read models
   * are behind.
   */
  async totals({ tenantId }: Caller, filter: Omit<EventFilter, "tenantId" | "test">): Promise<EventTotals> {
    const { shown } = this.#parts;
    const wanted = filter.statuses ?? eventStatuses;
    const counts = await shown.ask(tenantId, () => Promise.all(wanted.map((status) =>
      shown.count({ tenantId, ...filter, statuses: [status], test: false }))));
    const statuses = Object.fromEntries(eventStatuses.map((status) => [status, counts[wanted.indexOf(status)] ?? 0]));
    return {
      total: counts.reduce((sum, count) => sum + count, 0),
      statuses: statuses as unknown as EventTotals["statuses"],
    };
  }

  /** The one event with this key, if it matches the filter, too. */
  async #withKey(idempotencyKey: string, filter: EventFilter): Promise<readonly EventView[]> {
    const state = await loadShownByKey(this.#parts, filter.tenantId, idempotencyKey);
    if (!state) return [];
    const event = eventView(state);
    const [first] = await this.#parts.store.readStream(streams.event(event.id), { limit: 1 });
    const correlationId = first?.unreadable === undefined ? first?.metadata.correlationId : undefined;
    return isSelected(filter, { ...event, correlationId: correlationId ?? null }) ? [event] : [];
  }

  async *#hydrated(tenantId: string, documents: readonly EventDocument[]): AsyncGenerator<readonly EventView[]> {
    let characters = 0;
    for (let from = 0, count = firstEvents; from < documents.length;) {
      const wanted = documents.slice(from, from + count);
      const read = await this.#listReads.run(tenantId, (turn) =>
        turn(() => Promise.all(wanted.map((document) => this.#hydrate(document)))));
      const { part, taken } = fitting(read);
      yield part;
      from += taken;
      characters += charactersOf(part);
      count = Math.max(1, Math.min(mostEvents, Math.floor((charactersAtOnce * from) / Math.max(1, characters))));
    }
  }

  /** The document with its payload, which is only in the log; null when it was purged meanwhile. */
  async #hydrate({ id, acceptedIn, ...document }: EventDocument): Promise<EventView | null> {
    const [first] = await this.#parts.store.readStream(streams.event(id), { limit: 1, beginsAt: acceptedIn });
    if (!first || first.unreadable !== undefined) return null;
    const accepted = evolve(undefined, first as RecordedEvent<WebhookEvent>);
    const { status, currentRetryCount, nextAttemptAt, deliveredAt } = document;
    return accepted?.id === id
      ? { ...eventView(accepted), status, currentRetryCount, nextAttemptAt, deliveredAt }
      : null;
  }

  #whole(caller: Caller, loaded: LoadedWebhook, fact: RecordedEvent<WebhookEvent>) {
    return wholeFact(this.#parts.store, caller.tenantId, loaded, fact);
  }

  async #chronicle(caller: Caller, id: string, asOf?: string): Promise<Chronicle> {
    const { moments } = this.#parts;
    const asked = asOf === undefined ? undefined : moments.read(asOf);
    await this.#load(caller, id);
    const { moment, isPresent } = await moments.find(caller.tenantId, asked);
    // Read after the moment is known: facts up to there may be newer than the first look.
    const loaded = await this.#load(caller, id);
    const facts = loaded.facts.filter(({ position }) => position <= moment.position);
    const event = facts.reduce<WebhookState>(evolve, undefined);
    return event ? { event, facts, moment, isPresent } : refuse("not-found", "event not found at that moment");
  }

  async #load(caller: Caller, id: string): Promise<LoadedWebhook & { readonly state: Webhook }> {
    const loaded = await loadShown(this.#parts, caller.tenantId, id);
    const { state } = loaded;
    if (!state) refuse("not-found", "event not found");
    requireOwn(state, caller, "event");
    return { ...loaded, state };
  }
}

/**
 * The events of `read` (null if one was purged) that fit into one part, at least the first. `taken`: how many of `read`
 * they are, nulls included; the others are to be read again.
 */
function fitting(
  read: readonly (EventView | null)[],
): { readonly part: readonly EventView[]; readonly taken: number } {
  let characters = 0;
  const end = read.findIndex((event, at) => {
    characters += event?.payload.length ?? 0;
    return at > 0 && characters > charactersAtOnce;
  });
  const taken = end < 0 ? read.length : end;
  return { part: read.slice(0, taken).filter((event) => event !== null), taken };
}

function charactersOf(events: readonly EventView[]): number {
  return events.reduce((sum, { payload }) => sum + payload.length, 0);
}

/** The results of `wholeOf` for the items, without those that are gone meanwhile. */
function inParts<Outline, Item>(
  items: readonly Outline[], wholeOf: (item: Outline) => Promise<Item | undefined>,
): AsyncIterable<readonly Item[]> {
  return {
    async *[Symbol.asyncIterator]() {
      for (let at = 0; at < items.length; at += partSize) {
        const part = await Promise.all(items.slice(at, at + partSize).map(wholeOf));
        yield part.filter((item) => item !== undefined);
      }
    },
  };
}
