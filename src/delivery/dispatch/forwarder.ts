import type { CircuitEvent } from "../../features/circuits/facts.ts";
import type { DestinationEvent } from "../../features/destinations/facts.ts";
import type { WebhookEvent } from "../../features/events/facts.ts";
import { withDeliveries, type MessageEvent } from "../../features/messages/facts.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import {
  noStream, type EventLog, type LogEntry, type Position, type RecordedEvent, type Subscription,
} from "../../kernel/ports/event-store.ts";
import type { ExpiringState } from "../../kernel/ports/expiring-state.ts";
import type { WorkItem, WorkQueue } from "../../kernel/ports/work-queue.ts";
import { notifiedTypes, type Notifier } from "./notifier.ts";

const checkpointKey = "forwarder/checkpoint";
const checkpointEveryMs = 1_000;
const worked: readonly (WebhookEvent | MessageEvent | DestinationEvent | CircuitEvent)["type"][] = [
  "EventAccepted", "MessageAccepted", "EventReplayed", "RetryBroughtForward", "DestinationActivated",
  "DestinationRateLimitChanged", "DestinationPaceChanged", "DestinationDeleted", "CircuitClosed", "CircuitHalfOpened",
  "DeliveryAttemptStarted",
];
/** Events with one of these facts behind their acceptance are not waiting for a first attempt any more. */
const leaving: ReadonlySet<string> = new Set(["DeliveryAttemptStarted", "DeliveryExhausted"]);
const types = [...new Set([...worked, ...notifiedTypes])];
const notified: ReadonlySet<string> = new Set(notifiedTypes);

interface ForwarderParts {
  readonly log: EventLog;
  readonly queue: WorkQueue;
  readonly notifier: Pick<Notifier, "take" | "oldest" | "stop">;
  readonly state: ExpiringState;
  readonly clock: Clock;
}

/**
 * Publishes accepted events, and wake-ups where events may go again, and has facts notified. All that is acknowledged
 * before the checkpoint moves: an item may come twice, and is never left out.
 */
export class Forwarder {
  readonly #parts: ForwarderParts;
  #subscription: Subscription | undefined;
  #checkpoint: Position | undefined;
  #savedAt = 0;

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
  }

  /** Resumes at the checkpoint; without one, at the log's head: older work is in the due index. */
  async start(): Promise<void> {
    const { log, state } = this.#parts;
    const [saved] = await state.get([checkpointKey]);
    const head = await log.head();
    const after = saved != null && saved <= head ? saved : head;
    this.#checkpoint = after;
    this.#subscription = log.subscribe({ after, types }, (entries, upTo) => this.#forward(entries, upTo));
  }

  /** Resolves when nothing is being published any more and the checkpoint is stored, if it can be. */
  async stop(): Promise<void> {
    await this.#subscription?.stop();
    if (this.#checkpoint === undefined) return;
    // With an older checkpoint some items are published again; a drain must not fail over that.
    await this.#save(this.#checkpoint).catch(() => undefined);
    this.#parts.notifier.stop();
  }

  async #forward(entries: readonly LogEntry[], upTo: Position): Promise<void> {
    const readable = withDeliveries(entries).filter((entry) => entry.unreadable === undefined);
    // By id: a purged event's stream may begin again with another event.
    const begun = new Set(readable.filter(({ type }) => leaving.has(type)).map(eventIdOf));
    const items = readable.flatMap((entry) =>
      entry.type === "EventAccepted" && begun.has(eventIdOf(entry)) ? [] : workOf(entry));
    if (items.length > 0) await this.#parts.queue.publish(items);
    const toNotify = readable.filter(({ type }) => notified.has(type));
    if (toNotify.length > 0) await this.#parts.notifier.take(toNotify, this.#checkpoint ?? upTo);
    this.#checkpoint = upTo;
    const now = this.#parts.clock.monotonic();
    if (now - this.#savedAt < checkpointEveryMs) return;
    this.#savedAt = now;
    await this.#save(upTo);
  }

  #save(upTo: Position): Promise<void> {
    const { notifier, state } = this.#parts;
    return state.put(checkpointKey, notifier.oldest ?? upTo, null);
  }
}

function eventIdOf({ data }: RecordedEvent): string {
  return (data as { readonly eventId: string }).eventId;
}

/** The work items an entry of the log calls for. */
export function workOf(entry: RecordedEvent): WorkItem[] {
  const event = entry as RecordedEvent<WebhookEvent | DestinationEvent | CircuitEvent>;
  switch (event.type) {
    case "EventAccepted": {
      const { eventId, tenantId, destinationId, payload, idempotencyKey, at: acceptedAt } = event.data;
      const { eventType, ownerId, test, notification, slot, messageId } = event.data;
      const { id: causationId, position } = entry;
      const revision = messageId === undefined ? entry.revision : noStream;
      // The destination may hold all other events, or send this one after others: its worker looks for it by itself.
      if (test || notification || slot !== undefined) return [{ kind: "wake", destinationId, position }];
      const { correlationId } = entry.metadata;
      const accepted = { eventId, tenantId, destinationId, payload, idempotencyKey, acceptedAt };
      const classified = {
        ...(eventType !== undefined && { eventType }), ...(ownerId !== undefined && { ownerId }),
        ...(messageId !== undefined && { messageId }),
      };
      return [{ kind: "first", ...accepted, ...classified, causationId, correlationId, position, revision }];
    }
    case "EventReplayed":
    case "RetryBroughtForward":
    case "DestinationActivated":
    case "DestinationRateLimitChanged":
    case "DestinationPaceChanged":
    case "DestinationDeleted":
    case "CircuitClosed":
    case "CircuitHalfOpened":
      return [{ kind: "wake", destinationId: event.data.destinationId, position: entry.position }];
    default:
      return [];
  }
}
