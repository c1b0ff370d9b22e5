import pLimit from "p-limit";
import type { Circuit, CircuitEvent } from "../../features/circuits/facts.ts";
import { destinations, type DestinationEvent } from "../../features/destinations/facts.ts";
import { decide } from "../../features/events/decide.ts";
import { noApiKey, type WebhookEvent } from "../../features/events/facts.ts";
import { loadWebhook } from "../../features/events/webhooks.ts";
import {
  notifications, type NotificationSubscription, type NotificationType,
} from "../../features/notifications/facts.ts";
import { eventIdOf } from "../../kernel/domain/event-id.ts";
import { slotIn } from "../../kernel/domain/ordering.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { timestamp } from "../../kernel/domain/time.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import { entriesOf } from "../../kernel/log/origin.ts";
import type { Timer } from "../../kernel/ports/clock.ts";
import {
  LogUnavailable, noStream, RevisionConflict, type EventStore, type Position, type RecordedEvent,
} from "../../kernel/ports/event-store.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { Instruments, Metrics } from "../../kernel/ports/telemetry.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";

type Told = CircuitEvent | DestinationEvent | WebhookEvent;
type Exhausted = RecordedEvent<Extract<WebhookEvent, { readonly type: "DeliveryExhausted" }>>;

/** The facts that may be notified. */
export const notifiedTypes = [
  "CircuitCounted", "CircuitOpened", "CircuitClosed", "DestinationDeactivated", "DestinationCertificateExpiring",
  "DeliveryExhausted",
] as const satisfies readonly Told["type"][];

/** At the so many-th failure in a row a destination counts as failing. */
const failingAt = 4;
/** Events of a destination that are given up are told of so often at most, ms. */
const exhaustedEveryMs = 60_000;
const againAfterMs = 1_000;

interface NotifierParts extends Instruments {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly keys: PlatformKeys;
  readonly ids: Ids;
  readonly metrics: Pick<Metrics, "anomaly" | "accepted">;
}

/** Events of one destination that were given up since the last notification. */
interface Given {
  readonly first: Exhausted;
  /** The log is read again from here, should they not be told of. */
  readonly after: Position;
  newest: Exhausted;
  count: number;
}

/** A destination whose events were given up within the last minute. */
interface Minute {
  given: Given | undefined;
  timer: Timer;
  /** Up to here events that were given up are counted: an entry of the log gives up one of a destination at most. */
  counted: Position;
}

/** Accepts an event for each subscription to a fact, under a key that follows from both: once, also if repeated. */
export class Notifier {
  readonly #parts: NotifierParts;
  readonly #minutes = new Map<string, Minute>();
  /** Facts are taken, and minutes end, one after the other: none is counted while its count is being told. */
  readonly #inTurn = pLimit(1);

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** The position behind which facts are collected that are not told of yet; undefined where there are none. */
  get oldest(): Position | undefined {
    return [...this.#minutes.values()].flatMap(({ given }) => (given ? [given.after] : [])).sort()[0];
  }

  /** Tells of these facts, which follow `after`. It can be repeated. Throws LogUnavailable. */
  take(entries: readonly RecordedEvent[], after: Position): Promise<void> {
    return this.#inTurn(() => this.#take(entries, after));
  }

  async #take(entries: readonly RecordedEvent[], after: Position): Promise<void> {
    for (const entry of entries) {
      const fact = entry as RecordedEvent<Told>;
      try {
        if (fact.type === "DeliveryExhausted") await this.#collect(fact, after);
        else await this.#tellOf(fact);
      } catch (error) {
        if (error instanceof LogUnavailable) throw error;
        this.#parts.metrics.anomaly("notifier");
        this.#parts.logger.error({ err: error, entryId: entry.id }, "a notification cannot be made: it is left out");
      }
    }
  }

  stop(): void {
    for (const { timer } of this.#minutes.values()) timer.cancel();
    this.#minutes.clear();
  }

  async #tellOf(fact: RecordedEvent<Told>): Promise<void> {
    switch (fact.type) {
      case "CircuitCounted":
      case "CircuitOpened": {
        const { failures, openUntil, eventId, position } = fact.data;
        const failing = await this.#subscribed(fact, "destination.failing");
        const suspended = position === "Open" ? await this.#subscribed(fact, "destination.suspended") : [];
        if (failing.length + suspended.length === 0 || (await this.#isNotification(eventId))) return;
        const before = await this.#circuitBefore(fact);
        if (before && before.position !== "Closed") return;
        if (failures === failingAt && (before?.failures ?? 0) < failingAt) {
          await this.#tell(fact, "destination.failing", failing, { failures, eventId });
        }
        return this.#tell(fact, "destination.suspended", suspended, { failures, openUntil, eventId });
      }
      case "CircuitClosed": {
        const subscribed = await this.#subscribed(fact, "destination.recovered");
        if (subscribed.length === 0 || ((await this.#circuitBefore(fact))?.position ?? "Closed") === "Closed") return;
        return this.#tell(fact, "destination.recovered", subscribed, { eventId: fact.data.eventId });
      }
      case "DestinationDeactivated": {
        const { reason } = fact.data;
        if (reason === undefined) return;
        const subscribed = await this.#subscribed(fact, "destination.disabled");
        return this.#tell(fact, "destination.disabled", subscribed, { reason });
      }
      case "DestinationCertificateExpiring": {
        const { fingerprint, notAfter } = fact.data;
        const subscribed = await this.#subscribed(fact, "certificate.expiring");
        return this.#tell(fact, "certificate.expiring", subscribed, { fingerprint, notAfter });
      }
      default:
    }
  }

  /** Tells of the first at once, and of later ones within a minute at its end. */
  async #collect(fact: Exhausted, after: Position): Promise<void> {
    const { position: counted, data: { destinationId, notification, test } } = fact;
    const minute = this.#minutes.get(destinationId);
    const isCounted = minute !== undefined && counted <= minute.counted;
    if (isCounted || notification || test || (await this.#subscribed(fact, "event.exhausted")).length === 0) return;
    if (!minute) {
      await this.#tellOfGiven({ first: fact, after, newest: fact, count: 1 });
      const timer = this.#later(destinationId, exhaustedEveryMs);
      this.#minutes.set(destinationId, { given: undefined, timer, counted });
      return;
    }
    if (minute.given) {
      minute.given.newest = fact;
      minute.given.count += 1;
    } else minute.given = { first: fact, after, newest: fact, count: 1 };
    minute.counted = counted;
  }

  #later(destinationId: string, ms: number): Timer {
    return this.#parts.clock.schedule(ms, () => void this.#inTurn(() => this.#endMinute(destinationId)));
  }

  async #endMinute(destinationId: string): Promise<void> {
    const minute = this.#minutes.get(destinationId);
    if (!minute?.given) {
      this.#minutes.delete(destinationId);
      return;
    }
    const { given } = minute;
    try {
      await this.#tellOfGiven(given);
      minute.given = undefined;
      minute.timer = this.#later(destinationId, exhaustedEveryMs);
    } catch (error) {
      this.#parts.metrics.anomaly("notifier");
      this.#parts.logger.warn({ err: error, destinationId }, "a notification could not be made; it is tried again");
      minute.timer = this.#later(destinationId, againAfterMs);
    }
  }

  async #tellOfGiven({ first, newest, count }: Given): Promise<void> {
    const { eventId, reason } = newest.data;
    const subscribed = await this.#subscribed(first, "event.exhausted");
    await this.#tell(first, "event.exhausted", subscribed, { eventId, reason, count });
  }

  async #subscribed(
    { data: { tenantId } }: RecordedEvent<Told>, type: NotificationType,
  ): Promise<readonly NotificationSubscription[]> {
    const { state = [] } = await this.#parts.aggregates.read(notifications, tenantId);
    return state.filter(({ types }) => types.includes(type));
  }

  async #circuitBefore({ stream, revision }: RecordedEvent): Promise<Circuit | undefined> {
    if (revision === 0) return undefined;
    const [before] = await this.#parts.store.readStream(stream, { from: revision - 1, limit: 1 });
    return before && before.unreadable === undefined ? (before as RecordedEvent<CircuitEvent>).data : undefined;
  }

  async #isNotification(eventId: string | null): Promise<boolean> {
    return eventId !== null && ((await loadWebhook(this.#parts.store, eventId)).state?.notification ?? false);
  }

  async #tell(
    fact: RecordedEvent<Told>, type: NotificationType, subscribed: readonly NotificationSubscription[], more: object,
  ): Promise<void> {
    const { aggregates } = this.#parts;
    const { destinationId, at } = fact.data;
    const { state: about } = await aggregates.read(destinations, destinationId);
    const data = { destinationUrlId: destinationId, name: about?.name ?? null, url: about?.url ?? null, ...more };
    const payload = JSON.stringify({ type, timestamp: at, data });
    for (const subscription of subscribed) {
      const { state: target } = await aggregates.read(destinations, subscription.destinationId);
      if (!target || target.deleted) continue;
      await this.#accept(fact, type, subscription, { payload, ...slotIn(target.ordering, payload) });
    }
  }

  async #accept(
    { id: factId, metadata: { correlationId }, data: { destinationId: about } }: RecordedEvent<Told>,
    type: NotificationType,
    { id: subscriptionId, tenantId, destinationId }: NotificationSubscription,
    content: { readonly payload: string; readonly slot?: number },
  ): Promise<void> {
    const { store, clock, ids, keys, metrics } = this.#parts;
    const { events } = await keys.get();
    const now = clock.now();
    const eventId = eventIdOf(now, events.ofNotification(subscriptionId, type, { factId, about }));
    const facts = decide(undefined, {
      type: "Accept",
      event: {
        eventId, tenantId, destinationId, apiKeyId: noApiKey, senderId: null, senderRevision: null,
        idempotencyKey: null, original: null, eventType: type, notification: true, ...content,
      },
      at: timestamp(now),
    });
    const origin = { actor: { type: "service", part: "notifier" }, correlationId, causationId: factId } as const;
    try {
      await store.append(streams.event(eventId), noStream, entriesOf(facts, origin, ids));
      metrics.accepted();
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}
