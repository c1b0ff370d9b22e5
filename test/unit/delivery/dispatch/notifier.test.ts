import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { Notifier } from "../../../../src/delivery/dispatch/notifier.ts";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import { circuits, type Circuit } from "../../../../src/features/circuits/facts.ts";
import { destinations } from "../../../../src/features/destinations/facts.ts";
import type { WebhookEvent } from "../../../../src/features/events/facts.ts";
import { withDeliveries } from "../../../../src/features/messages/facts.ts";
import { notifications, notificationTypes } from "../../../../src/features/notifications/facts.ts";
import type { DataOf, DomainEvent } from "../../../../src/kernel/domain/domain-event.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { Aggregates } from "../../../../src/kernel/log/aggregates.ts";
import { LogUnavailable, logStart, type RecordedEvent } from "../../../../src/kernel/ports/event-store.ts";
import { EventKeys } from "../../../../src/kernel/sealing/event-keys.ts";
import type { PlatformKeys } from "../../../../src/kernel/sealing/platform-keys.ts";
import { InMemoryEventStore } from "../../../support/in-memory-event-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

const tenantId = randomUUID();
const actor = { type: "service", part: "test" } as const;
const ids = new SystemIds();

type Accepted = DataOf<WebhookEvent, "EventAccepted">;

describe("notifications", () => {
  let store: InMemoryEventStore;
  let clock: ManualClock;
  let notifier: Notifier;
  let read: string;
  const [failing, told, gone] = [randomUUID(), randomUUID(), randomUUID()];
  const eventId = randomUUID();

  beforeEach(async () => {
    store = new InMemoryEventStore();
    clock = new ManualClock();
    notifier = opened();
    for (const id of [failing, told, gone]) await append(streams.destination(id), registered(id));
    await append(streams.destination(gone), { type: "DestinationDeleted", data: of(gone, { ingestTokenHash: "h" }) });
    for (const id of [told, gone]) {
      const data = of(id, { subscriptionId: randomUUID(), types: [...notificationTypes] });
      await append(streams.notifications(tenantId), { type: "NotificationsSubscribed", data });
    }
    read = await store.head();
  });
  afterEach(() => notifier.stop());

  const opened = () => {
    const aggregates = new Aggregates(store, { clock, ids }, { max: 100 });
    aggregates.register(circuits).register(destinations).register(notifications);
    const events = new EventKeys({ nameHashKey: new Uint8Array(32), keyedEventIds: true });
    const keys = { get: async () => ({ events }) } as unknown as PlatformKeys;
    return new Notifier({ store, aggregates, keys, ids, clock, logger: quiet, metrics: uncounted });
  };
  const of = <Fields extends object>(destinationId: string, fields: Fields) =>
    ({ destinationId, tenantId, at: timestamp(clock.now()), ...fields });
  const registered = (destinationId: string): DomainEvent => ({
    type: "DestinationRegistered",
    data: of(destinationId, {
      url: "https://example.com/", serverRateLimit: 5, auth: null, ingestTokenHash: "h",
    }),
  });
  const append = async (stream: string, event: DomainEvent) => {
    const newest = (await store.readStream(stream)).length - 1;
    const metadata = {
      actor, correlationId: randomUUID(), causationId: null, at: timestamp(clock.now()), salt: ids.salt(),
    };
    await store.append(stream, newest, [{ id: randomUUID(), event, metadata }]);
  };
  /** Hands the new entries of the log to the notifier, as the forwarder does. */
  const forward = async () => {
    const { entries, upTo } = await store.readLog(read, 1_000);
    await notifier.take(entries as readonly RecordedEvent[], read);
    read = upTo;
  };
  const circuit = async (type: string, state: Partial<Circuit>, cause: string | null = eventId) => {
    const whole = { position: "Closed", failures: 0, openUntil: null, probe: null, ...state };
    await append(streams.circuit(failing), { type, data: of(failing, { ...whole, eventId: cause }) });
  };
  const exhausted = (fields: object = {}) => append(streams.event(eventId), {
    type: "DeliveryExhausted",
    data: of(failing, {
      eventId, acceptedAt: timestamp(0), from: "Failed", to: "CriticalFailure", retryCount: 3, reason: "max attempts",
      ...fields,
    }),
  });
  /** The notifications so far, each as its type and its data. */
  const notified = async () => {
    const { entries } = await store.readLog(logStart, 1_000);
    return entries.filter(({ type }) => type === "EventAccepted").map((entry) => {
      const accepted = (entry as RecordedEvent).data as Accepted;
      expect(accepted).to.include({ destinationId: told, notification: true, idempotencyKey: null });
      const { type, timestamp: at, data } = JSON.parse(accepted.payload) as
        { type: string; timestamp: string; data: { destinationUrlId: string; count?: number } };
      expect(type).to.equal(accepted.eventType);
      expect(at).to.match(/^\d{4}-.*Z$/);
      expect(data.destinationUrlId).to.equal(failing);
      return data.count === undefined ? type : `${type} ${data.count}`;
    });
  };

  it("tell of the fourth failure in a row, of the suspension, and of the recovery, once each", async () => {
    for (let failures = 1; failures <= 5; failures += 1) await circuit("CircuitCounted", { failures });
    await circuit("CircuitCounted", { failures: 4, pausedUntil: timestamp(1) });
    await circuit("CircuitOpened", { position: "Open", failures: 6, openUntil: timestamp(1) });
    await circuit("CircuitProbeClaimed", { position: "Open", failures: 6, openUntil: timestamp(1) });
    await circuit("CircuitOpened", { position: "Open", failures: 7, openUntil: timestamp(2), lastProbe: eventId });
    await circuit("CircuitClosed", {});
    await circuit("CircuitClosed", {}, null);
    await forward();
    expect(await notified()).to.deep.equal(
      ["destination.failing", "destination.suspended", "destination.recovered"]);
  });

  it("tell of both where the fourth failure opens the circuit", async () => {
    await circuit("CircuitCounted", { failures: 3 });
    await circuit("CircuitOpened", { position: "Open", failures: 4, openUntil: timestamp(1) });
    await forward();
    expect(await notified()).to.deep.equal(["destination.failing", "destination.suspended"]);
  });

  it("tell of a destination that the relay disabled, and of none that a person switched off", async () => {
    await append(streams.destination(failing), { type: "DestinationDeactivated", data: of(failing, {}) });
    await forward();
    expect(await notified()).to.be.empty;
    await append(streams.destination(failing), {
      type: "DestinationDeactivated", data: of(failing, { reason: "failing" }),
    });
    await forward();
    expect(await notified()).to.deep.equal(["destination.disabled"]);
  });

  it("are made once of each fact, though it is taken again after the log did not answer", async () => {
    await circuit("CircuitOpened", { position: "Open", failures: 1, openUntil: timestamp(1) });
    const before = read;
    store.beforeAppend = () => { throw new LogUnavailable("down"); };
    await forward().then(() => expect.fail("must throw"), (error: unknown) =>
      expect(error).to.be.instanceOf(LogUnavailable));
    store.beforeAppend = () => undefined;
    for (let times = 0; times < 3; times += 1) {
      read = before;
      await forward();
    }
    expect(await notified()).to.deep.equal(["destination.suspended"]);
  });

  it("tell of events that are given up at once, and then once a minute with a count", async () => {
    for (let events = 0; events < 3; events += 1) await exhausted();
    await forward();
    const collected = notifier.oldest;
    expect(await notified()).to.deep.equal(["event.exhausted 1"]);
    expect(collected).to.be.a("string");
    await exhausted();
    await forward();
    expect(notifier.oldest).to.equal(collected);
    clock.advance(59_999);
    expect(await notified()).to.have.length(1);
    clock.advance(1);
    await settled();
    expect(await notified()).to.deep.equal(["event.exhausted 1", "event.exhausted 3"]);
    expect(notifier.oldest).to.equal(undefined);
    clock.advance(60_000);
    await settled();
    await exhausted();
    await forward();
    expect(await notified()).to.deep.equal(["event.exhausted 1", "event.exhausted 3", "event.exhausted 1"]);
  });

  it("count each event once, also one that ends while a count is told, and in a batch that is repeated", async () => {
    await exhausted();
    await exhausted();
    await forward();
    const told = Promise.withResolvers<void>();
    store.beforeAppend = (_stream, [entry]) => (entry?.event.type === "EventAccepted" ? told.promise : undefined);
    clock.advance(60_000);
    await settled();
    const before = read;
    await exhausted();
    const forwarded = forward();
    await settled();
    told.resolve();
    await forwarded;
    read = before;
    await forward();
    expect(await notified()).to.deep.equal(["event.exhausted 1", "event.exhausted 1"]);
    clock.advance(60_000);
    await settled();
    expect(await notified()).to.deep.equal(["event.exhausted 1", "event.exhausted 1", "event.exhausted 1"]);
  });

  it("tell of each destination for which a message was not mapped, once, though its entry is taken again", async () => {
    const messageId = randomUUID();
    const [other, problem] = [randomUUID(), "the result is not an object"];
    await append(streams.destination(other), registered(other));
    const deliveries = [failing, other].map((destinationId) =>
      ({ eventId: randomUUID(), subscriptionId: randomUUID(), revision: 0, destinationId, payload: null, problem }));
    await append(streams.event(messageId), {
      type: "MessageAccepted",
      data: {
        messageId, tenantId, apiKeyId: randomUUID(), senderId: randomUUID(), senderRevision: 0, idempotencyKey: null,
        payload: "{}", original: null, deliveries, skipped: [], at: timestamp(clock.now()),
      },
    });
    const { entries } = await store.readLog(read, 1_000);
    const given = withDeliveries(entries).filter(({ type }) => type === "DeliveryExhausted");
    for (let times = 0; times < 2; times += 1) await notifier.take(given as readonly RecordedEvent[], read);
    clock.advance(60_000);
    await settled();
    const { entries: after } = await store.readLog(read, 1_000);
    const told = after.filter(({ type }) => type === "EventAccepted").map((entry) =>
      JSON.parse(((entry as RecordedEvent).data as Accepted).payload) as { readonly data: object });
    expect(told.map(({ data }) => data)).to.deep.equal(deliveries.map(({ destinationId, eventId: delivery }) => ({
      destinationUrlId: destinationId, name: null, url: "https://example.com/", eventId: delivery,
      reason: "not mapped", count: 1,
    })));
  });

  it("are not made of the failures of notifications and of test events", async () => {
    await exhausted({ notification: true });
    await exhausted({ test: true });
    const accepted = {
      apiKeyId: randomUUID(), senderId: null, senderRevision: null, idempotencyKey: null, payload: "{}", original: null,
    };
    const own = randomUUID();
    const data = of(told, { ...accepted, eventId: own, notification: true });
    await append(streams.event(own), { type: "EventAccepted", data });
    await circuit("CircuitCounted", { failures: 3 });
    await circuit("CircuitCounted", { failures: 4 }, own);
    const { entries } = await store.readLog(logStart, 1_000);
    await forward();
    const after = await store.readLog(logStart, 1_000);
    expect(after.entries).to.have.length(entries.length);
  });

  const settled = async () => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
});
