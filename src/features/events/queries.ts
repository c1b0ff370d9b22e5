import { isSelected, type EventDocument, type EventFilter } from "../../../projections/events/events.ts";
import type { components } from "../../../schemas/api.ts";
import { requireOwn, withinAudience } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { LongReads } from "../../kernel/log/long-reads.ts";
import type { Moments, Moment } from "../../kernel/log/moments.ts";
import type { RecordedEvent } from "../../kernel/ports/event-store.ts";
import { pageFrom, pageOf, type PageInParts, type PageRequest } from "../../kernel/read-models/paging.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { historyItem } from "../facts.ts";
import { isWanted, type HistoryRequest, type ToldFact } from "../history.ts";
import { asEvent, type FoundEventView } from "../messages/messages.ts";
import type { MessageQueries } from "../messages/queries.ts";
import { namesOf } from "../names.ts";
import { storyMarkdown } from "../story/markdown.ts";
import type { Story } from "../story/story.ts";
import {
  attemptsOf, type AttemptView, type EventSummaryView, summariesOf, summaryOf, hydrated, type HydratedEvent,
} from "./event-summaries.ts";
import { eventStatuses, evolve, type Webhook, type WebhookEvent, type WebhookState } from "./facts.ts";
import { columnsOf } from "./payload-condition.ts";
import type { ShownEvents } from "./shown-events.ts";
import { storyOf, type Chronicle } from "./story.ts";
import {
  eventView, type EventView, loadShown, loadShownByKey, tracesOf, wholeFact, type LoadedWebhook,
} from "./webhooks.ts";

/** Attempts or facts whose requests and answers, of unknown size, are read at once. */
const partSize = 4;

interface FoundEvent {
  readonly event: EventView;
  readonly facts: LoadedWebhook["facts"];
}

interface Shows<Item> {
  readonly ofFound: (event: EventView, facts: LoadedWebhook["facts"]) => Item;
  readonly ofPart: (part: readonly HydratedEvent[]) => readonly Item[] | Promise<readonly Item[]>;
}

/** Filters of a list of a tenant's events. */
export interface EventListFilter extends Omit<EventFilter, "tenantId"> {
  readonly idempotencyKey?: string | undefined;
}

/** How many events there are, in all and in each status. */
export type EventTotals = Readonly<components["schemas"]["EventTotals"]>;

/** Queries about accepted events. */
export class EventQueries {
  readonly #parts;
  /** Bounds the parts of lists that are read at once; apart from reads of long histories, which take longer. */
  readonly #listReads = new LongReads();

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness">
      & {
        readonly shown: ShownEvents;
        readonly keys: PlatformKeys;
        readonly moments: Moments;
        readonly messages: MessageQueries;
      },
  ) {
    this.#parts = parts;
  }

  /** As it is, or was at a moment; a message as it is. Throws a Refusal. */
  async get(caller: Caller, id: string, asOf?: string): Promise<FoundEventView> {
    const loaded = await loadShown(this.#parts, caller.tenantId, id);
    const message = loaded.state ? undefined : await this.#parts.messages.find(caller, id);
    if (message) return asEvent(message);
    if (asOf === undefined) return eventView(ownOf(loaded, caller).state);
    const { event, moment } = await this.#chronicle(caller, id, asOf);
    return { ...eventView(event), asOf: moment };
  }

  /** What happened to it and why, up to now or to a moment. Throws as {@link get} does. */
  async story(caller: Caller, id: string, asOf?: string): Promise<StoryView> {
    const chronicle = await this.#chronicle(caller, id, asOf);
    const { event, moment } = chronicle;
    return { asOf: moment, event: eventView(event), ...(await storyOf(this.#parts, chronicle)) };
  }

  /** The story as Markdown, with the names of its actors and the receiver's last words. Throws as {@link get} does. */
  async storyText(caller: Caller, id: string, asOf?: string): Promise<string> {
    const chronicle = await this.#chronicle(caller, id, asOf);
    const { event, facts, moment } = chronicle;
    const story = await storyOf(this.#parts, chronicle);
    const failed = facts.findLast(({ type }) => type === "DeliveryFailed");
    const [named, whole] = await Promise.all([
      namesOf(this.#parts, caller, story.chapters.flatMap(({ entries }) => entries.map(({ actor }) => actor))),
      failed && wholeFact(this.#parts.store, caller.tenantId, chronicle, failed),
    ]);
    const claim = facts.findLast((fact) => fact.type === "DeliveryAttemptStarted");
    return storyMarkdown({
      ...story, asOf: moment, event: eventView(event), named, url: claim?.data.url,
      answer: whole?.type === "DeliveryFailed" ? whole.data.answer?.body ?? "" : "",
    });
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

  /** Its facts, with the names of their actors. Throws a Refusal (not-found, forbidden). */
  async history(caller: Caller, id: string, asked: HistoryRequest): Promise<PageInParts<ToldFact>> {
    const loaded = await this.#load(caller, id);
    const wanted = loaded.facts.filter((fact) => isWanted(fact, asked));
    const { items, ...ends } = pageOf(wanted, asked, ({ revision }) => revision);
    const named = await namesOf(this.#parts, caller, items.map(({ metadata }) => metadata.actor));
    const wholeOf = async (outline: RecordedEvent<WebhookEvent>) => {
      const fact = await this.#whole(caller, loaded, outline);
      if (!fact) return undefined;
      const item = historyItem(fact);
      return { ...item, actor: named(item.actor) };
    };
    return { ...ends, parts: inParts(items, wholeOf) };
  }

  /** The tenant's events, in parts of a bounded size. Throws a Refusal (unavailable); its parts LogUnavailable. */
  list(
    caller: Caller, filter: EventListFilter, page: PageRequest, columns?: readonly string[],
  ): Promise<PageInParts<EventView>> {
    const added = addedColumns(columns);
    return this.#list(caller, filter, page, {
      ofFound: (event) => ({ ...event, ...added(event) }),
      ofPart: (part) => part.flatMap(({ view }) => (view ? { ...view, ...added(view) } : [])),
    });
  }

  summaries(
    caller: Caller, filter: EventListFilter, page: PageRequest, columns?: readonly string[],
  ): Promise<PageInParts<EventSummaryView>> {
    const added = addedColumns(columns);
    return this.#list(caller, filter, page, {
      ofFound: (event, facts) => ({ ...summaryOf(event, facts), ...added(event) }),
      ofPart: async (part) => {
        const views = part.flatMap(({ view }) => view ?? []);
        const summaries = await summariesOf(this.#parts, caller.tenantId, part);
        return summaries.map((summary, at) => ({ ...summary, ...added(views[at]!) }));
      },
    });
  }

  /** Counts the events of the caller's tenant, without test events unless asked for. Throws a Refusal (unavailable). */
  async totals(caller: Caller, { idempotencyKey, ...given }: EventListFilter): Promise<EventTotals> {
    const { shown } = this.#parts;
    const { tenantId } = caller;
    const filter = { tenantId, ...withinAudience(caller, given), test: given.test ?? false };
    const wanted = filter.statuses ?? eventStatuses;
    const found = idempotencyKey === undefined ? undefined : await this.#withKey(idempotencyKey, filter);
    const counts = found
      ? wanted.map((status) => found.filter(({ event }) => event.status === status).length)
      : await shown.ask(tenantId, () => Promise.all(wanted.map((status) =>
        shown.count({ ...filter, statuses: [status] }))));
    const statuses = Object.fromEntries(eventStatuses.map((status) => [status, counts[wanted.indexOf(status)] ?? 0]));
    return {
      total: counts.reduce((sum, count) => sum + count, 0),
      statuses: statuses as unknown as EventTotals["statuses"],
    };
  }

  async #list<Item>(
    caller: Caller, { idempotencyKey, ...filter }: EventListFilter, page: PageRequest, shows: Shows<Item>,
  ): Promise<PageInParts<Item>> {
    const { store, shown } = this.#parts;
    const { tenantId } = caller;
    const wanted = { tenantId, ...withinAudience(caller, filter) };
    if (idempotencyKey !== undefined) {
      const found = await this.#withKey(idempotencyKey, wanted);
      const { items, ...ends } = pageOf(found, page, () => 0);
      return { ...ends, parts: [items.map(({ event, facts }) => shows.ofFound(event, facts))] };
    }
    const { items, ...ends } = await shown.ask(tenantId, () => pageFrom<EventDocument>(page, {
      count: () => shown.count(wanted),
      find: (slice) => shown.page(wanted, slice),
      placeOf: ({ id }) => ({ value: id, key: id }),
    }));
    const sources = { store, reads: this.#listReads };
    const parts = async function* () {
      for await (const part of hydrated(sources, tenantId, items)) yield shows.ofPart(part);
    };
    return { ...ends, parts: { [Symbol.asyncIterator]: parts } };
  }

  /** The one event with this key, if it matches the filter, too. */
  async #withKey(idempotencyKey: string, filter: EventFilter): Promise<readonly FoundEvent[]> {
    const found = await loadShownByKey(this.#parts, filter.tenantId, idempotencyKey);
    if (!found) return [];
    const { state, facts } = await loadShown(this.#parts, filter.tenantId, found.id);
    if (!state) return [];
    const event = eventView(state);
    const isSent = filter.replayId === undefined || await this.#parts.shown.isSentBy(filter.replayId, event);
    return isSent && isSelected(filter, { ...event, ...tracesOf(facts) }) ? [{ event, facts }] : [];
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
    return ownOf(await loadShown(this.#parts, caller.tenantId, id), caller);
  }
}

function ownOf(loaded: LoadedWebhook, caller: Caller): LoadedWebhook & { readonly state: Webhook } {
  const { state } = loaded;
  if (!state) refuse("not-found", "event not found");
  requireOwn(state, caller, "event");
  return { ...loaded, state };
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

/** Makes the columns of an event; none where none are asked for. */
function addedColumns(pointers: readonly string[] | undefined): (view: EventView) => Pick<EventView, "columns"> {
  if (pointers === undefined) return () => ({});
  const columns = columnsOf(pointers);
  return ({ payload }) => ({ columns: [...columns(payload)] });
}

/** The story of an event as the API tells it, and the event and the moment that it is of. */
export type StoryView = Story & { readonly asOf: Moment; readonly event: EventView };
