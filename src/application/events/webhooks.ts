import { eventIdOf } from "../../domain/event/event-id.ts";
import type { WebhookEvent } from "../../domain/event/events.ts";
import { isFinished, isPurged } from "../../domain/event/purge.ts";
import { evolve, type Webhook, type WebhookState } from "../../domain/event/state.ts";
import { Refusal } from "../../domain/refusal.ts";
import { streams } from "../../domain/streams.ts";
import { noStream, RevisionConflict, type EventStore, type RecordedEvent } from "../../ports/event-store.ts";
import type { Ids } from "../../ports/ids.ts";
import { purges } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import { idempotentKey } from "../hashing.ts";
import { entriesOf, type Origin } from "../origin.ts";

/** A webhook event with the revision of its stream and its facts in order. */
export interface LoadedWebhook {
  readonly state: WebhookState;
  readonly revision: number;
  readonly facts: readonly RecordedEvent<WebhookEvent>[];
}

/** The log, and what it says of tenants. */
interface Sources {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
}

const nothing: LoadedWebhook = { state: undefined, revision: noStream, facts: [] };

/**
 * Folds the stream of a webhook event; where another event has the stream now, there is none. Throws
 * LogUnavailable, or a Refusal where it cannot be read.
 */
export async function loadWebhook(store: EventStore, eventId: string): Promise<LoadedWebhook> {
  const loaded = await loadStream(store, streams.event(eventId));
  return !loaded.state || loaded.state.id === eventId ? loaded : nothing;
}

/** What the next fact about an event refers to: the request it came with, and its newest fact. */
export function referencesOf(
  event: Webhook, facts: LoadedWebhook["facts"],
): Pick<Origin, "correlationId" | "causationId"> {
  return { correlationId: facts[0]?.metadata.correlationId ?? event.id, causationId: facts.at(-1)?.id ?? null };
}

async function loadStream(store: EventStore, stream: string): Promise<LoadedWebhook> {
  const entries = await store.readStream(stream);
  let state: WebhookState;
  for (const entry of entries) {
    if (entry.unreadable !== undefined) throw new Refusal("unavailable", "this event's record cannot be read");
    state = evolve(state, entry as RecordedEvent<WebhookEvent>);
  }
  const facts = entries as readonly RecordedEvent<WebhookEvent>[];
  return { state, revision: facts.at(-1)?.revision ?? noStream, facts };
}

/**
 * Folds the stream of a webhook event as it is shown: where a purge took the event it has no state, though its stream
 * may still be there. Throws as {@link loadWebhook} does.
 */
export async function loadShown(sources: Sources, eventId: string): Promise<LoadedWebhook> {
  return asShown(sources, await loadWebhook(sources.store, eventId));
}

/** The event that has the stream, as {@link loadShown} does, whatever its id is. */
export async function loadShownOf(sources: Sources, stream: string): Promise<LoadedWebhook> {
  return asShown(sources, await loadStream(sources.store, stream));
}

/**
 * The event that has this idempotency key of the tenant's, as it is shown; undefined where there is none. Throws as
 * {@link loadWebhook} does, and an Error where another key's event has the stream.
 */
export async function loadShownByKey(
  sources: Sources, tenantId: string, idempotencyKey: string,
): Promise<WebhookState> {
  const stream = streams.event(eventIdOf(0, idempotentKey(tenantId, idempotencyKey)));
  const { state } = await loadShownOf(sources, stream);
  if (state && (state.tenantId !== tenantId || state.idempotencyKey !== idempotencyKey)) {
    throw new Error(`two idempotency keys have one hash: ${stream}`);
  }
  return state;
}

/** What is to become of an event as it stands; throws where nothing may. */
export type Decision = (event: Webhook) => readonly WebhookEvent[] | Promise<readonly WebhookEvent[]>;

/**
 * Decides on an event as {@link loadShown} has it and appends what follows, again from its newer state when another
 * writer was first. Answers the event after the facts, and these; null where it is not there, or a purge took it in
 * between. Throws as {@link loadWebhook} and `decide` do.
 */
export async function changeShown(
  parts: Sources & { readonly ids: Ids }, eventId: string, origin: Origin, decide: Decision,
): Promise<{ readonly event: Webhook; readonly facts: readonly WebhookEvent[] } | null> {
  for (;;) {
    const { state, revision } = await loadShown(parts, eventId);
    if (!state) return null;
    const facts = await decide(state);
    try {
      await parts.store.append(streams.event(eventId), revision, entriesOf(facts, origin, parts.ids));
      // A purge that came in between took the event as it was before, if it was finished.
      if (isFinished(state.status) && !(await loadShown(parts, eventId)).state) return null;
      return { event: facts.reduce<Webhook>((event, fact) => evolve(event, fact) ?? event, state), facts };
    } catch (error) {
      // Another was first: what may be done now depends on what it did.
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}

async function asShown({ aggregates }: Sources, loaded: LoadedWebhook): Promise<LoadedWebhook> {
  const { facts } = loaded;
  if (!loaded.state || !facts.some(({ data }) => "to" in data && isFinished(data.to))) return loaded;
  const { state } = await aggregates.current(purges, loaded.state.tenantId);
  return state && isPurged(state.underWay, facts) ? { ...loaded, state: undefined } : loaded;
}
