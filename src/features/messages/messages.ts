import { events } from "../../../projections/events/events.ts";
import { messageIdOf } from "../../../projections/events/labels.ts";
import { fingerprint } from "../../../projections/index.ts";
import type { components } from "../../../schemas/api.ts";
import { eventIdOf } from "../../kernel/domain/event-id.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import { refuseUnreadable } from "../../kernel/log/unreadable.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import {
  noStream, RevisionConflict, type EventStore, type LogEntry, type RecordedEvent,
} from "../../kernel/ports/event-store.ts";
import { ReadModelsUnavailable, type ReadModels } from "../../kernel/ports/read-models.ts";
import { patienceMs } from "../../kernel/read-models/freshness.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import type { EventKeys } from "../../kernel/sealing/event-keys.ts";
import { isFinished, type EventStatus, type WebhookEvent } from "../events/facts.ts";
import { factsOfDelivery, isPurgedWith, messageIn, purge, purgedIn, type AcceptedMessage } from "./facts.ts";

/** More than a message has: its acceptance, and an entry for each delivery that was purged. */
const mostEntries = 1_000;

/** A message as the API shows it. */
export type MessageView = Readonly<components["schemas"]["Message"]>;
/** An event, or a message in the form of one. */
export type FoundEventView = Readonly<components["schemas"]["FoundEvent"]>;

/** The message of an id; undefined if there is none. Throws LogUnavailable, or a Refusal (unavailable). */
export async function loadMessage(
  store: Pick<EventStore, "readStream">, id: string,
): Promise<AcceptedMessage | undefined> {
  const message = await readMessage(store, id);
  return message?.data.messageId === id ? message : undefined;
}

/** A delivery's part of the acceptance of its message, as facts of the event; none once the message is gone. */
export async function factsInMessage(
  store: Pick<EventStore, "readStream">, messageId: string, eventId: string,
): Promise<readonly RecordedEvent<WebhookEvent>[]> {
  const [first, ...rest] = await readEntries(store, messageId);
  const message = acceptedBy(first);
  if (message?.data.messageId !== messageId || purgedAmong(rest).includes(eventId)) return [];
  return factsOfDelivery(message, eventId);
}

/** The purged deliveries of a message: all of them where it is gone. Throws LogUnavailable. */
export async function purgedOf(
  store: Pick<EventStore, "readStream">, { id, data: { messageId, deliveries } }: AcceptedMessage,
): Promise<readonly string[]> {
  const [first, ...rest] = await readEntries(store, messageId);
  return first?.id === id ? purgedAmong(rest) : deliveries.map(({ eventId }) => eventId);
}

/**
 * Records that deliveries were purged, deletes their streams for good, and with the last one their message: its facts
 * would mean nothing without it. Throws LogUnavailable or ReadModelsUnavailable.
 */
export async function purgeDeliveries(
  { store, readModels, ids, clock }: Pick<KernelParts, "store" | "readModels" | "ids" | "clock">, messageId: string,
  eventIds: readonly string[], origin: Origin,
): Promise<void> {
  const stream = streams.event(messageId);
  for (let done = false; !done;) {
    const [first, ...rest] = await readEntries(store, messageId);
    const message = messageIn(first);
    if (message?.data.messageId !== messageId) return deleteDeliveries(store, eventIds);
    const purged = purgedAmong(rest);
    const facts = purge(message, purged, eventIds, timestampNow(clock));
    const newest = rest.at(-1) ?? message;
    try {
      const entries = entriesOf(facts, origin, ids);
      const last = facts.length === 0 ? newest : await store.append(stream, newest.revision, entries);
      await deleteDeliveries(store, eventIds);
      if (isPurgedWith(message, new Set([...purged, ...eventIds]))) {
        // Read models that have not seen the last fact could never remove the message.
        const isSeen = (await readModels.caughtUp(last.position, patienceMs)) && (await readModels.settle(fingerprint));
        if (!isSeen) throw new ReadModelsUnavailable("they are behind");
        await store.deleteStream(stream, last.revision);
      }
      done = true;
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}

/** Also where a stream reads as empty: a deletion may have broken off, and a delivery must not begin any more. */
async function deleteDeliveries(
  store: Pick<EventStore, "readStream" | "deleteStream">, eventIds: readonly string[],
): Promise<void> {
  for (const stream of eventIds.map(streams.event)) {
    for (let done = false; !done;) {
      const [newest] = await store.readStream(stream, { backwards: true, limit: 1 });
      if (newest?.unreadable !== undefined && newest.newer) refuseUnreadable("the record of a purged delivery", newest);
      try {
        await store.deleteStream(stream, newest?.revision ?? noStream, { forGood: true });
        done = true;
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
      }
    }
  }
}

/** The message that an event delivers, by its document; null for any other. Rejects with ReadModelsUnavailable. */
export async function messageOf(readModels: Pick<ReadModels, "get">, eventId: string): Promise<string | null> {
  const document = await documentOf(readModels, events, eventId);
  return document && messageIdOf(document);
}

/** The message with this idempotency key; undefined without one. Throws as {@link loadMessage} does. */
export async function loadMessageByKey(
  store: Pick<EventStore, "readStream">, keys: Pick<EventKeys, "of">, tenantId: string, idempotencyKey: string,
): Promise<AcceptedMessage | undefined> {
  const message = await readMessage(store, eventIdOf(0, keys.of(tenantId, idempotencyKey)));
  return message?.data.tenantId === tenantId && message.data.idempotencyKey === idempotencyKey ? message : undefined;
}

async function readMessage(store: Pick<EventStore, "readStream">, id: string): Promise<AcceptedMessage | undefined> {
  const [first] = await store.readStream(streams.event(id), { limit: 1 });
  return acceptedBy(first);
}

function acceptedBy(first: LogEntry | undefined): AcceptedMessage | undefined {
  if (first?.unreadable !== undefined) refuseUnreadable("this message's record", first);
  return messageIn(first);
}

function readEntries(store: Pick<EventStore, "readStream">, messageId: string): Promise<readonly LogEntry[]> {
  return store.readStream(streams.event(messageId), { limit: mostEntries });
}

function purgedAmong(entries: readonly LogEntry[]): readonly string[] {
  return entries.flatMap((entry) => purgedIn(entry) ?? []);
}

/** The status of a message, from those of its deliveries that are not purged. */
export function sumOf(statuses: readonly EventStatus[]): EventStatus {
  if (statuses.some((status) => !isFinished(status))) return "Pending";
  if (statuses.includes("CriticalFailure")) return "CriticalFailure";
  return statuses.length > 0 && statuses.every((status) => status === "Cancelled") ? "Cancelled" : "Succeeded";
}

/** A message in the form of an event. */
export function asEvent({ skipped: _, ...message }: MessageView): FoundEventView {
  return {
    ...message, destinationUrlId: null, currentRetryCount: 0, nextAttemptAt: null, deliveredAt: null, messageId: null,
    test: false, sourceEventId: null,
  };
}
