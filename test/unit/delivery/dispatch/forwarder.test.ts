import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { SqliteExpiringState } from "../../../../packages/embedded-engine/src/index.ts";
import { Forwarder } from "../../../../src/delivery/dispatch/forwarder.ts";
import { eventIdOf, keyOfEvent } from "../../../../src/kernel/domain/event-id.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { noStream, type LogEntry } from "../../../../src/kernel/ports/event-store.ts";
import { ExpiringStateUnavailable } from "../../../../src/kernel/ports/expiring-state.ts";
import { QueueUnavailable, type WorkItem } from "../../../../src/kernel/ports/work-queue.ts";
import { acceptEvent } from "../../../support/accepted-event.ts";
import { InMemoryEventStore } from "../../../support/in-memory-event-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { salt } from "../../../support/recorded.ts";
import { eventually } from "../../../support/relay.ts";
import { spoiled } from "../../../support/spoiled.ts";

const at = "2026-01-15T09:30:00.000Z";
const metadata = { actor: { type: "anonymous" }, correlationId: "c", causationId: null, at, salt } as const;

describe("forwarder", () => {
  let log: InMemoryEventStore;
  let clock: ManualClock;
  let state: SqliteExpiringState;
  let published: string[];
  /** The queue takes no items before this resolves. */
  let queue: Promise<void>;

  beforeEach(() => {
    log = new InMemoryEventStore();
    clock = new ManualClock();
    state = new SqliteExpiringState(":memory:", clock);
    published = [];
    queue = Promise.resolve();
  });
  afterEach(() => state.close());

  const publish = async (items: readonly WorkItem[]) => {
    await queue;
    for (const item of items) published.push(item.kind === "first" ? item.eventId : `wake ${item.destinationId}`);
  };
  const open = async () => {
    const consume = () => Promise.reject(new Error("nobody consumes here"));
    const notifier = { take: () => Promise.resolve(), oldest: undefined, stop: () => undefined };
    const forwarder = new Forwarder({ log, queue: { publish, consume }, notifier, state, clock });
    await forwarder.start();
    return forwarder;
  };
  const accept = () => acceptEvent(log, at);
  /** Appends an event's acceptance with the claim of its first attempt. */
  const acceptClaimed = async (eventId: string) => {
    const ids = { eventId, tenantId: randomUUID(), destinationId: randomUUID() };
    const accepted = {
      ...ids, apiKeyId: randomUUID(), senderId: null, senderRevision: null, idempotencyKey: null, payload: "{}",
      original: null, at,
    };
    const started = {
      ...ids, acceptedAt: at, from: "Pending", to: "Processing", at, attempt: 1, leaseUntil: at, worker: randomUUID(),
      url: "https://example.com/", authType: null, destinationRevision: 0, secretFingerprint: "f", probe: false,
    };
    await log.append(streams.event(eventId), noStream, [
      { id: randomUUID(), event: { type: "EventAccepted", data: accepted }, metadata },
      { id: randomUUID(), event: { type: "DeliveryAttemptStarted", data: started }, metadata },
    ]);
  };
  const all = (count: number) => eventually(async () => published, ({ length }) => length >= count);

  it("publishes events accepted since its last run, and those it may have published already", async () => {
    const first = await open();
    const before = [await accept()];
    await all(1);
    before.push(await accept());
    await all(2);
    await first.stop();
    const meanwhile = await accept();
    const second = await open();
    const after = await accept();
    await all(4);
    await second.stop();
    expect(published).to.deep.equal([...before, meanwhile, after]);
  });

  it("begins at the log's head without a checkpoint, or with one of a longer log", async () => {
    await accept();
    const first = await open();
    const after = [await accept()];
    await all(1);
    await first.stop();
    await state.put("forwarder/checkpoint", `9${await log.head()}`, null);
    const second = await open();
    after.push(await accept());
    await all(2);
    await second.stop();
    expect(published).to.deep.equal(after);
  });

  it("publishes nothing for an event whose first attempt was claimed by the append that accepted it", async () => {
    const forwarder = await open();
    await acceptClaimed(randomUUID());
    const after = await accept();
    await all(1);
    await forwarder.stop();
    expect(published).to.deep.equal([after]);
  });

  it("publishes an event whose stream belonged to an attempted and purged one, both in one batch", async () => {
    const key = keyOfEvent(randomUUID());
    const [first, second] = [eventIdOf(Date.parse(at), key), eventIdOf(Date.parse(at) + 1, key)];
    const told: LogEntry[] = [];
    await acceptClaimed(first);
    told.push(...await log.readStream(streams.event(first)));
    await log.deleteStream(streams.event(first));
    await acceptEvent(log, at, second);
    told.push(...await log.readStream(streams.event(second)));
    log.subscribe = (_options, handle) => {
      const handled = handle(told, told.at(-1)!.position);
      return { stop: async () => void await handled };
    };
    await (await open()).stop();
    expect(published).to.deep.equal([second]);
  });

  it("wakes a destination whose limit was changed: a slot may be free before any attempt ends", async () => {
    const forwarder = await open();
    const [tenantId, destinationId] = [randomUUID(), randomUUID()];
    const data = { destinationId, tenantId, serverRateLimit: 6, at };
    await log.append(streams.destination(destinationId), noStream, [
      { id: randomUUID(), event: { type: "DestinationRateLimitChanged", data }, metadata },
    ]);
    const after = await accept();
    await eventually(async () => published, (items) => items.includes(after));
    await forwarder.stop();
    expect(published).to.deep.equal([`wake ${destinationId}`, after]);
  });

  it("wakes the destination of an event that is resent, or whose retry is brought forward", async () => {
    const forwarder = await open();
    const ids = { eventId: randomUUID(), tenantId: randomUUID(), acceptedAt: at, at, nextAttemptAt: at };
    const [resent, retried] = [randomUUID(), randomUUID()];
    for (const event of [
      {
        type: "EventReplayed",
        data: { ...ids, destinationId: resent, from: "Succeeded", to: "Pending", mode: "resend" },
      },
      {
        type: "RetryBroughtForward",
        data: { ...ids, destinationId: retried, from: "WaitingRetry", to: "WaitingRetry" },
      },
    ]) await log.append(streams.event(randomUUID()), noStream, [{ id: randomUUID(), event, metadata }]);
    await all(2);
    await forwarder.stop();
    expect(published).to.deep.equal([`wake ${resent}`, `wake ${retried}`]);
  });

  it("skips unreadable entries, and goes on", async () => {
    let first: string | undefined;
    const subscribe = log.subscribe.bind(log);
    log.subscribe = (options, handle) => subscribe(options, (entries, upTo) => handle(entries.map((entry) => {
      first ??= entry.stream;
      return entry.stream === first ? spoiled(entry) : entry;
    }), upTo));
    const forwarder = await open();
    await accept();
    const after = await accept();
    await all(1);
    await forwarder.stop();
    expect(published).to.deep.equal([after]);
  });

  it("has no checkpoint beyond the items that the queue has taken", async () => {
    const first = await open();
    const taken = await accept();
    await all(1);
    const checkpoint = () => state.get(["forwarder/checkpoint"]);
    const [known] = await eventually(checkpoint, ([position]) => position !== null);
    clock.advance(60_000);
    let fail = (_error: Error): void => undefined;
    queue = new Promise((_resolve, reject) => (fail = reject));
    queue.catch(() => undefined);
    const asked = queue;
    const refused = await accept();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await checkpoint()).to.deep.equal([known]);
    fail(new QueueUnavailable("away"));
    await asked.catch(() => undefined);
    await first.stop().catch(() => undefined);
    queue = Promise.resolve();
    const second = await open();
    await all(2);
    await second.stop();
    expect(published).to.deep.equal([taken, refused]);
  });

  it("stops without an error though its checkpoint cannot be stored: a drain must not fail", async () => {
    const forwarder = await open();
    await accept();
    await eventually(() => state.get(["forwarder/checkpoint"]), ([position]) => position !== null);
    state.put = () => Promise.reject(new ExpiringStateUnavailable("away"));
    await forwarder.stop();
  });
});
