import type { EventDocument } from "../../../projections/events/events.ts";
import { messageIdOf } from "../../../projections/events/labels.ts";
import type { components } from "../../../schemas/api.ts";
import { eventIdOf } from "../../kernel/domain/event-id.ts";
import { slotOf } from "../../kernel/domain/ordering.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import { LongReads, type Turn } from "../../kernel/log/long-reads.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import { refuseUnreadable } from "../../kernel/log/unreadable.ts";
import {
  noStream, RevisionConflict, type EventStore, type LogEntry, type NewEntry, type RecordedEvent,
} from "../../kernel/ports/event-store.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import type { Metrics } from "../../kernel/ports/telemetry.ts";
import type { Freshness } from "../../kernel/read-models/freshness.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { unkeyedEventKey } from "../../kernel/tools/hashing.ts";
import { destinations } from "../destinations/facts.ts";
import { begun, deliveryIn, factsOfDelivery, messageIn } from "../messages/facts.ts";
import { factsInMessage, messageOf } from "../messages/messages.ts";
import { purges, isPurged } from "../purges/facts.ts";
import { evolve, type Webhook, type WebhookEvent, type WebhookState, isFinished } from "./facts.ts";

/** Entries that are read at first: few events have more. */
const pageEntries = 16;
/** Entries that are read at once of a longer history: so many are decoded in a few milliseconds. */
const longPageEntries = 64;

/** An event, its revision and its facts; those beyond the first page lack requests and answers ({@link wholeFact}). */
export interface LoadedWebhook {
  readonly state: WebhookState;
  readonly revision: number;
  readonly facts: readonly RecordedEvent<WebhookEvent>[];
}

type Accepted = Extract<WebhookEvent, { readonly type: "EventAccepted" }>;

interface Sources {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
}

/** Sources that find deliveries without a stream, too. */
export interface ShownSources extends Sources {
  readonly readModels: Pick<ReadModels, "get">;
  readonly freshness: Pick<Freshness, "ask">;
}

const nothing: LoadedWebhook = { state: undefined, revision: noStream, facts: [] };

/** Folds the stream of an event that has one. Throws LogUnavailable, or an UnreadableRecord. */
export async function loadWebhook(store: EventStore, eventId: string): Promise<LoadedWebhook> {
  return ofEvent(eventId, await loadStream(store, streams.event(eventId)));
}

/** The log and the read models, for an event that is due. */
export interface DueSources {
  readonly store: EventStore;
  readonly readModels: Pick<ReadModels, "get">;
  readonly freshness: Pick<Freshness, "ask">;
}

/**
 * As {@link loadWebhook}, also a delivery whose stream has not begun. Lost read models know of no message: only those
 * that cover the log's end say that the event is gone. Throws ReadModelsUnavailable, too, and a Refusal.
 */
export async function loadDue({ store, readModels, freshness }: DueSources, eventId: string): Promise<LoadedWebhook> {
  const loaded = await loadWebhook(store, eventId);
  if (hasBegun(loaded)) return loaded;
  const look = () => messageOf(readModels, eventId);
  return unbegun(store, eventId, (await look()) ?? await freshness.ask(look));
}

function hasBegun({ facts }: LoadedWebhook): boolean {
  return facts.length > 0;
}

/** The fact that accepted the event of a document; undefined where it is gone, or only a newer release can read it. */
export async function acceptanceOf(
  store: Pick<EventStore, "readStream">, document: Pick<EventDocument, "id" | "acceptedIn" | "labels">,
): Promise<RecordedEvent<Accepted> | undefined> {
  const { id, acceptedIn: beginsAt } = document;
  const messageId = messageIdOf(document);
  const [first] = await store.readStream(streams.event(messageId ?? id), { limit: 1, beginsAt });
  const message = messageIn(first);
  const [fact] = message ? factsOfDelivery(message, id) : [first];
  if (fact?.unreadable !== undefined || fact?.type !== "EventAccepted") return undefined;
  const accepted = fact as RecordedEvent<Accepted>;
  return accepted.data.eventId === id ? accepted : undefined;
}

/** A delivery whose stream has not begun. */
async function unbegun(store: EventStore, eventId: string, messageId: string | null): Promise<LoadedWebhook> {
  const facts = messageId === null ? [] : await factsInMessage(store, messageId, eventId);
  const state = facts.reduce<WebhookState>(evolve, undefined);
  return state ? { state, revision: noStream, facts } : nothing;
}

function ofEvent(eventId: string, loaded: LoadedWebhook): LoadedWebhook {
  return !loaded.state || loaded.state.id === eventId ? loaded : nothing;
}

/** The ids that the next fact about an event refers to: of the request it came with, and of its newest fact. */
export function referencesOf(
  event: Webhook, facts: LoadedWebhook["facts"],
): Pick<Origin, "correlationId" | "causationId"> {
  return { correlationId: facts[0]?.metadata.correlationId ?? event.id, causationId: facts.at(-1)?.id ?? null };
}

/** The first page is read at once; the rest, if any, as a long read of `asker`, or else of the event's tenant. */
async function loadStream(store: EventStore, stream: string, asker?: string): Promise<LoadedWebhook> {
  const page = await store.readStream(stream, { limit: pageEntries });
  const first = folded(await before(store, page), page, (fact) => fact);
  if (page.length < pageEntries) return first;
  const read = (turn: Turn) => restOf(store, stream, first, turn);
  return LongReads.of(store).run(asker ?? first.state?.tenantId ?? stream, read);
}

/** The facts before the stream of a delivery: its part of its message's acceptance. */
async function before(store: EventStore, [first]: readonly LogEntry[]): Promise<LoadedWebhook> {
  const begun = deliveryIn(first);
  return begun ? unbegun(store, begun.eventId, begun.messageId) : nothing;
}

/** Goes on from the first page to the end; from the beginning, where the stream is deleted meanwhile. */
async function restOf(store: EventStore, stream: string, first: LoadedWebhook, turn: Turn): Promise<LoadedWebhook> {
  for (let loaded = first; ;) {
    const last = loaded.facts.at(-1);
    const page = await turn(() => store.readStream(stream, { from: last?.revision ?? 0, limit: longPageEntries }));
    // The last fact is read again: as long as it is there, nothing before it has gone.
    if (last && page[0]?.id !== last.id) loaded = nothing;
    else {
      loaded = folded(loaded, last ? page.slice(1) : page, last ? outlined : (fact) => fact);
      if (page.length < longPageEntries) return loaded;
    }
  }
}

function folded(
  { state, revision, facts }: LoadedWebhook, entries: readonly LogEntry[],
  kept: (fact: RecordedEvent<WebhookEvent>) => RecordedEvent<WebhookEvent>,
): LoadedWebhook {
  const newer = entries.map(readable).filter((fact) => !deliveryIn(fact));
  return {
    state: newer.reduce(evolve, state),
    revision: entries.at(-1)?.revision ?? revision,
    facts: [...facts, ...newer.map(kept)],
  };
}

function readable(entry: LogEntry): RecordedEvent<WebhookEvent> {
  if (entry.unreadable !== undefined) refuseUnreadable("this event's record", entry);
  return entry as RecordedEvent<WebhookEvent>;
}

/** The fact without what was sent, and of the answer little more than its status. */
function outlined(fact: RecordedEvent<WebhookEvent>): RecordedEvent<WebhookEvent> {
  if (fact.type === "DeliveryFailed") {
    const answer = fact.data.answer && { ...fact.data.answer, headers: {}, body: "" };
    return { ...fact, data: { ...fact.data, requestHeaders: null, answer } };
  }
  if (fact.type !== "DeliverySucceeded") return fact;
  const answer = { ...fact.data.answer, headers: {}, body: "" };
  return { ...fact, data: { ...fact.data, requestHeaders: {}, answer } };
}

/** A fact of a loaded event with its request and answer; undefined after a purge. Throws as {@link loadWebhook}. */
export async function wholeFact(
  store: EventStore, asker: string, { facts }: Pick<LoadedWebhook, "facts">, fact: RecordedEvent<WebhookEvent>,
): Promise<RecordedEvent<WebhookEvent> | undefined> {
  const isOutcome = fact.type === "DeliverySucceeded" || fact.type === "DeliveryFailed";
  const beyond = facts[pageEntries];
  if (!isOutcome || !beyond || fact.revision < beyond.revision) return fact;
  const { stream, revision: from, id } = fact;
  const [entry] = await LongReads.of(store).run(asker, (turn) =>
    turn(() => store.readStream(stream, { from, limit: 1 })));
  return entry?.id === id ? readable(entry) : undefined;
}

/** An event as a tenant sees it: purged, it has no state. Throws as {@link loadWebhook}, and CallerGone. */
export async function loadShown(sources: ShownSources, asker: string, eventId: string): Promise<LoadedWebhook> {
  const loaded = ofEvent(eventId, await loadStream(sources.store, streams.event(eventId), asker));
  if (hasBegun(loaded)) return asShown(sources, loaded);
  const { readModels, freshness } = sources;
  const messageId = await freshness.ask(() => messageOf(readModels, eventId));
  return asShown(sources, await unbegun(sources.store, eventId, messageId));
}

/** The event of any id that has the stream, as {@link loadShown} shows it. */
export async function loadShownOf(sources: Sources, asker: string, stream: string): Promise<LoadedWebhook> {
  return asShown(sources, await loadStream(sources.store, stream, asker));
}

interface NamedSources extends Sources {
  readonly keys: Pick<PlatformKeys, "get">;
}

/** The event with this idempotency key, as it is shown, or undefined. Throws as {@link loadShown} does. */
export async function loadShownByKey(
  sources: NamedSources, tenantId: string, idempotencyKey: string,
): Promise<WebhookState> {
  const { events } = await sources.keys.get();
  return (await loadNamed(sources, events.of(tenantId, idempotencyKey), tenantId, idempotencyKey))
    ?? (events.mayBeUnkeyed ? loadShownUnkeyed(sources, tenantId, idempotencyKey) : undefined);
}

/** The same among the events that a release before 0.2 accepted. */
export function loadShownUnkeyed(sources: Sources, tenantId: string, idempotencyKey: string): Promise<WebhookState> {
  return loadNamed(sources, unkeyedEventKey(tenantId, idempotencyKey), tenantId, idempotencyKey);
}

/** The event with this idempotency key as it was accepted, whatever a newer release wrote since. */
export async function loadAcceptedByKey(
  sources: NamedSources, tenantId: string, idempotencyKey: string,
): Promise<WebhookState> {
  const { events } = await sources.keys.get();
  const names = [events.of(tenantId, idempotencyKey), unkeyedEventKey(tenantId, idempotencyKey)];
  for (const name of events.mayBeUnkeyed ? names : names.slice(0, 1)) {
    const [accepted] = await sources.store.readStream(streams.event(eventIdOf(0, name)), { limit: 1 });
    const state = accepted && evolve(undefined, readable(accepted));
    if (!state || !hasKey(state, tenantId, idempotencyKey)) continue;
    const { state: known } = await sources.aggregates.current(purges, tenantId);
    return known && known.underWay.length > 0 ? undefined : state;
  }
  return undefined;
}

/** The event of that key; undefined also if another idempotency key's event has the name. */
async function loadNamed(
  sources: Sources, eventKey: string, tenantId: string, idempotencyKey: string,
): Promise<WebhookState> {
  const { state } = await loadShownOf(sources, tenantId, streams.event(eventIdOf(0, eventKey)));
  return state && hasKey(state, tenantId, idempotencyKey) ? state : undefined;
}

/** Whether an event or a message was accepted under this idempotency key of the tenant's. */
export function hasKey(
  accepted: Pick<Webhook, "tenantId" | "idempotencyKey">, tenantId: string, idempotencyKey: string,
): boolean {
  return accepted.tenantId === tenantId && accepted.idempotencyKey === idempotencyKey;
}

/** Decides the next facts of an event, from its state and its facts so far; throws where none is allowed. */
export type Decision = (
  event: Webhook, before: LoadedWebhook["facts"],
) => readonly WebhookEvent[] | Promise<readonly WebhookEvent[]>;

/** Decides on an event and appends the facts, again after another writer; null where it is gone. */
export async function changeShown(
  parts: ShownSources & { readonly ids: Ids }, asker: string, eventId: string, origin: Origin, decide: Decision,
): Promise<{ readonly event: Webhook; readonly facts: readonly WebhookEvent[] } | null> {
  for (;;) {
    const { state, revision, facts: before } = await loadShown(parts, asker, eventId);
    if (!state) return null;
    const facts = await decide(state, before);
    if (facts.length === 0) return { event: state, facts };
    try {
      const entries = entriesAfter({ state, revision }, facts, origin, parts.ids);
      await parts.store.append(streams.event(eventId), revision, entries);
      // A purge that came in between took the event as it was before, if it was finished.
      if (isFinished(state.status) && !(await loadShown(parts, asker, eventId)).state) return null;
      return { event: facts.reduce<Webhook>((event, fact) => evolve(event, fact) ?? event, state), facts };
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}

/** The next facts of an event, ready to append; a delivery's stream begins with them. */
export function entriesAfter(
  { state, revision }: { readonly state: Webhook; readonly revision?: number },
  facts: readonly WebhookEvent[], origin: Origin, ids: Ids,
): NewEntry[] {
  const [first] = facts;
  const beginning = first && revision === noStream ? begun(state, first.data.at) : [];
  return entriesOf([...beginning, ...facts], origin, ids);
}

async function asShown({ aggregates }: Sources, loaded: LoadedWebhook): Promise<LoadedWebhook> {
  const { facts } = loaded;
  if (!loaded.state || !facts.some(({ data }) => "to" in data && isFinished(data.to))) return loaded;
  const { state } = await aggregates.current(purges, loaded.state.tenantId);
  return state && isPurged(state.underWay, facts) ? { ...loaded, state: undefined } : loaded;
}

/** What the facts of an event tell beside its state: the id of its request, and when it was finished, if it is. */
export function tracesOf(
  facts: LoadedWebhook["facts"],
): { readonly correlationId: string | null; readonly finishedAt: string | null } {
  const last = facts.findLast(({ data }) => "to" in data && data.from !== data.to)?.data;
  return {
    correlationId: facts[0]?.metadata.correlationId ?? null,
    finishedAt: last && "to" in last && isFinished(last.to) ? last.at : null,
  };
}

/** An event as the API shows it. */
export type EventView = Readonly<components["schemas"]["Event"]>;

/** The API's view of a folded event. */
export function eventView(webhook: Webhook): EventView {
  return {
    id: webhook.id,
    tenantId: webhook.tenantId,
    destinationUrlId: webhook.destinationId,
    payload: webhook.payload,
    status: webhook.status,
    idempotencyKey: webhook.idempotencyKey,
    currentRetryCount: webhook.retryCount,
    nextAttemptAt: webhook.nextAttemptAt,
    acceptedAt: webhook.acceptedAt,
    deliveredAt: webhook.deliveredAt,
    senderId: webhook.senderId,
    messageId: webhook.messageId,
    eventType: webhook.eventType,
    ownerId: webhook.ownerId,
    tags: webhook.tags,
    test: webhook.test,
    sourceEventId: webhook.sourceEventId,
  };
}

/** The slot that an event gets in its destination's order, as far as that is known, if it is sent again. */
export async function slotOfResent(
  aggregates: Aggregates, { destinationId, payload }: Pick<Webhook, "destinationId" | "payload">,
): Promise<number | null> {
  const { state } = await aggregates.read(destinations, destinationId);
  return state ? slotOf(state.ordering, payload) : null;
}

/** Counts the event that these facts finish, unless it was finished already. */
export function countFinished(metrics: Pick<Metrics, "finished">, facts: readonly WebhookEvent[]): void {
  for (const { data } of facts) {
    if ("to" in data && isFinished(data.to) && !isFinished(data.from)) metrics.finished(data.to);
  }
}
