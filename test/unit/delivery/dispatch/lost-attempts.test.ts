import { expect } from "chai";
import { Attempts } from "../../../../src/delivery/dispatch/attempts.ts";
import { Claims } from "../../../../src/delivery/dispatch/claims.ts";
import { LostAttempts } from "../../../../src/delivery/dispatch/lost-attempts.ts";
import type { Claimed } from "../../../../src/delivery/dispatch/work.ts";
import type { Workers } from "../../../../src/delivery/dispatch/workers.ts";
import type { DeliveryClient } from "../../../../src/delivery/requests/delivery-client.ts";
import { DueIndex } from "../../../../src/delivery/requests/due-index.ts";
import { Outcomes } from "../../../../src/delivery/requests/recording.ts";
import { circuits } from "../../../../src/features/circuits/facts.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { LogUnavailable, type RecordedEvent } from "../../../../src/kernel/ports/event-store.ts";
import { createTenant, openIngest } from "../../../support/accounts.ts";
import { attemptEnded, tellCircuit } from "../../../support/circuits.ts";
import { http } from "../../../support/http.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { noPause, refusal, success } from "../../../support/outcomes.ts";
import { eventually } from "../../../support/relay.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

const origin = { actor: { type: "service", part: "delivery/w1" }, correlationId: "c", causationId: "claim" } as const;

/** An event of the same destination. */
const another = "0193a1b2-0000-7000-8000-00000000ffff";

describe("a lost attempt", () => {
  let relay: ManualRelay;
  let target: Awaited<ReturnType<typeof openIngest>>;
  let outcomes: Outcomes;

  beforeEach(async () => {
    relay = await ManualRelay.open();
    const { owner, tenantId } = await createTenant(relay.api.url);
    target = await openIngest(owner.client, tenantId);
    held = new Set();
    ended = [];
    lines = [];
    outcomes = new Outcomes({ ...relay.api.world, retry: { scheduleMs: [60_000], jitter: 0 } });
  });
  afterEach(() => relay.close());

  /** An event with an open attempt, whose lease lasts `leaseMs`. */
  const underWay = async (leaseMs = 0) => {
    const answer = await http("POST", relay.api.url + target.path, {
      json: {}, headers: { "x-api-key": target.apiKey },
    });
    const eventId = String(answer.json["eventId"]);
    await relay.deliveries.start(eventId, undefined, leaseMs);
    const { state, revision } = await loadWebhook(relay.store, eventId);
    if (!state) throw new Error(`${eventId} is not stored`);
    return { eventId, state, revision };
  };
  let ended: string[];
  const attempt = (outcome: string, reason: string, seconds: number | null) =>
    void ended.push(`${outcome}: ${reason}, ${seconds} s`);
  const metrics = { ...uncounted, attempt };
  let lines: object[];
  const logger = { ...quiet, warn: (fields: object, message: string) => void lines.push({ ...fields, message }) };
  let clock: ManualClock;
  let reach: { reachableSince: number };
  /** A sweeper that has seen all open attempts; the result gives up lost ones `afterMs` later. */
  /** Ids of events whose attempts a living process holds. */
  let held: Set<string>;
  const watching = async (isGone = (_worker: string) => false) => {
    await relay.drained();
    clock = new ManualClock();
    reach = { reachableSince: clock.monotonic() };
    const { store } = relay;
    const dueIndex = new DueIndex(relay.models);
    const workers: Pick<Workers, "isGone" | "held"> = {
      isGone, held: async (attempts) => attempts.filter(({ eventId }) => held.has(eventId)),
    };
    const lost = new LostAttempts({ store, dueIndex, outcomes, workers, reach, clock, logger, metrics });
    await lost.giveUp();
    return (afterMs = 1_000) => {
      clock.advance(afterMs);
      return lost.giveUp();
    };
  };
  const circuit = async () => (await relay.api.world.aggregates.current(circuits, target.destinationId)).state;
  const endsOf = async (eventId: string) =>
    (await relay.store.readStream(streams.event(eventId))).flatMap((fact) =>
      fact.unreadable === undefined && /^Delivery(Failed|Succeeded)$/.test(fact.type) ? [fact.type] : []);
  /** Holds appends to a stream until `release()`. */
  const holdAppends = (stream: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held: string[] = [];
    relay.store.beforeAppend = async (to) => {
      if (to !== stream) return;
      held.push(to);
      await promise;
    };
    return { held, release: resolve };
  };

  it("is given up once, also by several processes, and does not count for its circuit", async () => {
    const { eventId } = await underWay();
    const all = [await watching(), await watching(), await watching()];
    const { held, release } = holdAppends(streams.event(eventId));
    const done = all.map((giveUp) => giveUp());
    await eventually(async () => held, ({ length }) => length === all.length);
    release();
    await Promise.all(done);
    expect(await endsOf(eventId)).to.deep.equal(["DeliveryFailed"]);
    expect(await circuit()).to.equal(undefined);
    expect(ended).to.deep.equal(["failed: outcome unknown, null s"]);
  });

  it("is logged like any other attempt, with its event, tenant and destination", async () => {
    const { eventId, state } = await underWay();
    const giveUp = await watching();
    await giveUp();
    const [accepted, ...facts] = await relay.store.readStream(streams.event(eventId));
    const failed = facts.find(({ type }) => type === "DeliveryFailed") as RecordedEvent | undefined;
    expect(failed?.data).to.include({ durationMs: null, requestHeaders: null, answer: null });
    const { tenantId, destinationId } = state;
    expect(lines.at(-1)).to.deep.include({
      eventId, tenantId, destinationId, attempt: 1, host: "receiver.example", outcome: "failed",
      reason: "outcome unknown", status: "WaitingRetry", message: "attempt given up: outcome unknown",
      correlationId: accepted?.unreadable === undefined ? accepted?.metadata.correlationId : "",
    });
  });

  for (const [name, real, failures] of [["success", success, undefined], ["failure", refusal, 1]] as const) {
    it(`counts as a ${name} if its worker recorded that first`, async () => {
      const { eventId, state, revision } = await underWay();
      const giveUp = await watching();
      const { held, release } = holdAppends(streams.event(eventId));
      const done = giveUp();
      await eventually(async () => held, ({ length }) => length === 1);
      relay.store.beforeAppend = () => undefined;
      await outcomes.recording({ known: { state, revision }, attempt: 1, outcome: real, origin }).finish();
      release();
      await done;
      expect(await endsOf(eventId)).to.deep.equal([real.ok ? "DeliverySucceeded" : "DeliveryFailed"]);
      expect((await circuit())?.failures).to.equal(failures);
      expect([ended, lines], "told of as lost").to.deep.equal([[], []]);
    });
  }

  for (const fails of ["before", "after"] as const) {
    it(`releases its probe once, though the log's answer was lost ${fails} the write`, async () => {
      const { eventId, state } = await underWay();
      await tellCircuit(relay.api.world, state, attemptEnded(another, false));
      relay.clock.advance(301_000);
      const leaseUntil = timestamp(relay.clock.now() + 20_000);
      await tellCircuit(relay.api.world, state, { type: "ClaimProbe", eventId, leaseUntil, lost: null });
      const giveUp = await watching();
      const append = relay.store.append.bind(relay.store);
      let lost = false;
      relay.store.append = async (stream, ...args) => {
        const isLost = stream === streams.circuit(target.destinationId) && !lost;
        lost ||= isLost;
        if (isLost && fails === "before") throw new LogUnavailable("away");
        const appended = await append(stream, ...args);
        if (isLost) throw new LogUnavailable("no answer");
        return appended;
      };
      expect(await giveUp().catch((error: unknown) => error)).to.be.instanceOf(LogUnavailable);
      await relay.drained();
      await giveUp();
      await giveUp();
      expect(await endsOf(eventId)).to.deep.equal(["DeliveryFailed"]);
      expect(await circuit()).to.include({ position: "Open", failures: 1, probe: null, lastProbe: eventId });
      const facts = await relay.store.readStream(streams.circuit(target.destinationId));
      expect(facts.filter(({ type }) => type === "CircuitProbeReleased")).to.have.length(1);
      expect(ended).to.deep.equal(["failed: outcome unknown, null s"]);
    });
  }

  it("counts as recorded by its worker if giving it up failed at first", async () => {
    const { eventId, state, revision } = await underWay();
    const giveUp = await watching();
    relay.store.beforeAppend = () => {
      throw new LogUnavailable("away");
    };
    expect(await giveUp().catch((error: unknown) => error)).to.be.instanceOf(LogUnavailable);
    relay.store.beforeAppend = () => undefined;
    await outcomes.recording({ known: { state, revision }, attempt: 1, outcome: success, origin }).finish();
    await giveUp();
    expect(await endsOf(eventId)).to.deep.equal(["DeliverySucceeded"]);
    expect(await circuit()).to.equal(undefined);
  });

  it("is counted by its worker once the log is back, and only once", async () => {
    const headers = { "x-api-key": target.apiKey };
    const eventId = String((await http("POST", relay.api.url + target.path, { json: {}, headers })).json["eventId"]);
    const clock = new ManualClock();
    const parts = { ...relay.api.world, outcomes, clock, logger: quiet, metrics, workerId: "w1" };
    const claimed = await new Claims({ ...parts, deliveryTimeoutMs: 1_000 })
      .claim({ kind: "due", eventId }, false, () => true);
    const attempts = new Attempts({ ...parts, client: { send: async () => refusal } as unknown as DeliveryClient });
    let away = true;
    relay.store.beforeAppend = (stream) => {
      if (stream === streams.circuit(target.destinationId) && away) throw new LogUnavailable("away");
    };
    const done = attempts.carryOut(claimed as Claimed, noPause);
    await eventually(async () => clock.pending, ({ length }) => length > 0);
    away = false;
    clock.advance(500);
    await done;
    expect(await endsOf(eventId)).to.deep.equal(["DeliveryFailed"]);
    expect(await circuit()).to.include({ failures: 1 });
  });

  it("is waited for by the sweep, even if giving up another attempt fails meanwhile", async () => {
    const [one, other] = [await underWay(), await underWay()];
    const giveUp = await watching();
    const { held, release } = holdAppends(streams.event(one.eventId));
    const hold = relay.store.beforeAppend;
    relay.store.beforeAppend = (stream, ...appended) => {
      if (stream === streams.event(other.eventId)) throw new LogUnavailable("down");
      return hold(stream, ...appended);
    };
    let over = false;
    const done = giveUp().catch((error: unknown) => error).finally(() => { over = true; });
    await eventually(async () => held, ({ length }) => length === 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(over).to.equal(false);
    relay.store.beforeAppend = () => undefined;
    release();
    expect(await done).to.be.instanceOf(LogUnavailable);
    await giveUp();
    for (const { eventId } of [one, other]) expect(await endsOf(eventId)).to.deep.equal(["DeliveryFailed"]);
    expect(await circuit()).to.equal(undefined);
  });

  it("is given up at first sight if its worker has certainly ended, and its event is due at once", async () => {
    const { eventId } = await underWay(20_000);
    await relay.drained();
    await watching((worker) => worker !== "test");
    expect(await endsOf(eventId)).to.deep.equal([]);
    await watching((worker) => worker === "test");
    const { state, facts } = await loadWebhook(relay.store, eventId);
    expect(state).to.include({ status: "WaitingRetry", nextAttemptAt: facts.at(-1)?.data.at });
  });

  it("of a gone worker and an unreadable event is tried again after a lease, not at each look", async () => {
    const { eventId } = await underWay(1_000);
    const readStream = relay.store.readStream.bind(relay.store);
    let looks = 0;
    relay.store.readStream = async (stream, options) => {
      const entries = await readStream(stream, options);
      if (stream !== streams.event(eventId)) return entries;
      looks += 1;
      return entries.map((entry) => ({ ...entry, unreadable: "spoiled", newer: false }));
    };
    const giveUp = await watching(() => true);
    await giveUp(999);
    expect(looks).to.equal(1);
    await giveUp(1);
    expect(looks).to.equal(2);
  });

  it("is not given up while only a newer release can read its event or its tenant, and is logged once", async () => {
    const { eventId, state } = await underWay();
    const other = await underWay();
    const giveUp = await watching();
    await relay.store.appendNewer(streams.event(eventId));
    await giveUp();
    for (let times = 0; times < 3; times += 1) await giveUp(1_000);
    expect(lines.map((line) => "eventId" in line && line.eventId))
      .to.have.members([eventId, other.eventId]);
    const last = await underWay();
    const giveUpMore = await watching();
    await relay.store.appendNewer(streams.tenant(state.tenantId));
    await giveUpMore();
    const ends = await Promise.all([eventId, other.eventId, last.eventId].map(endsOf));
    expect(ends).to.deep.equal([[], ["DeliveryFailed"], []]);
  });

  it("is given up while only a newer release can read its circuit, which stays unchanged", async () => {
    const { eventId } = await underWay();
    const giveUp = await watching();
    await relay.store.appendNewer(streams.circuit(target.destinationId));
    await giveUp();
    expect(await endsOf(eventId)).to.deep.equal(["DeliveryFailed"]);
    expect(await relay.store.readStream(streams.circuit(target.destinationId))).to.have.length(1);
  });

  it("has its whole lease again after the log was unreachable, so that its worker can record first", async () => {
    const { eventId } = await underWay(10_000);
    const giveUp = await watching();
    reach.reachableSince = Infinity;
    await giveUp(15_000);
    reach.reachableSince = clock.monotonic();
    await giveUp(9_999);
    expect(await endsOf(eventId)).to.deep.equal([]);
    await giveUp(1);
    expect(await endsOf(eventId)).to.deep.equal(["DeliveryFailed"]);
  });

  it("is not given up while a living process holds it, however long, and then at once", async () => {
    const [first, other] = [await underWay(1_000), await underWay(1_000)];
    held.add(first.eventId);
    const giveUp = await watching();
    await giveUp(60_000);
    expect([await endsOf(first.eventId), await endsOf(other.eventId)]).to.deep.equal([[], ["DeliveryFailed"]]);
    held.clear();
    await giveUp(1);
    expect(await endsOf(first.eventId)).to.deep.equal(["DeliveryFailed"]);
  });

  it("is not given up if the log became unreachable while its event was read", async () => {
    const { eventId } = await underWay(10_000);
    const giveUp = await watching();
    const readStream = relay.store.readStream.bind(relay.store);
    relay.store.readStream = (...asked) => {
      reach.reachableSince = clock.monotonic();
      return readStream(...asked);
    };
    await giveUp(10_000);
    relay.store.readStream = readStream;
    expect(await endsOf(eventId)).to.deep.equal([]);
  });

  it("of an unreadable event gets another lease, and holds up no other attempt", async () => {
    const [spoiled, other] = [await underWay(1_000), await underWay(1_000)];
    const giveUp = await watching();
    const readStream = relay.store.readStream.bind(relay.store);
    let looks = 0;
    relay.store.readStream = async (stream, options) => {
      const entries = await readStream(stream, options);
      if (stream !== streams.event(spoiled.eventId)) return entries;
      looks += 1;
      return entries.map((entry) => ({ ...entry, unreadable: "spoiled", newer: false }));
    };
    await giveUp();
    await giveUp(999);
    expect(looks).to.equal(1);
    await giveUp(1);
    expect(looks).to.equal(2);
    expect(ended).to.deep.equal(["failed: outcome unknown, null s"]);
    relay.store.readStream = readStream;
    expect(await endsOf(other.eventId)).to.deep.equal(["DeliveryFailed"]);
  });
});
