import { expect } from "chai";
import { ReceiverPause } from "../../../../src/delivery/dispatch/pauses.ts";
import { type Circuit, circuits } from "../../../../src/features/circuits/facts.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { attemptEnded } from "../../../support/circuits.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { refusal, success, tooMany } from "../../../support/outcomes.ts";
import { eventually } from "../../../support/relay.ts";
import { stage, until, workerOf, type Stage } from "../../../support/staged-worker.ts";

/** An event of the same destination. */
const another = "0193a1b2-0000-7000-8000-00000000ffff";

describe("a receiver's pause", () => {
  const after = (clock: ManualClock, ms: number) => timestamp(clock.now() + ms);
  const begin = () => {
    const resumed: number[] = [];
    const clock = new ManualClock();
    const pause = new ReceiverPause(clock, () => void resumed.push(clock.now()));
    return { clock, pause, resumed };
  };

  it("lasts as long as the longest requested pause, and resumes once", () => {
    const { clock, pause, resumed } = begin();
    expect(pause.until).to.equal(null);
    const end = after(clock, 2_000);
    pause.ask(2_000);
    clock.advance(500);
    pause.ask(1_000);
    pause.ask(0);
    expect(pause.until).to.equal(end);
    clock.advance(1_499);
    expect([pause.until, resumed]).to.deep.equal([end, []]);
    clock.advance(1);
    expect([pause.until, resumed]).to.deep.equal([null, [clock.now()]]);
  });

  it("is the pause in the log, if that is longer", () => {
    const { clock, pause } = begin();
    pause.follow(after(clock, 2_000));
    pause.ask(1_000);
    expect(pause.until).to.equal(after(clock, 2_000));
    pause.follow(after(clock, 3_000));
    expect(pause.until).to.equal(after(clock, 3_000));
    pause.follow(timestamp(clock.now() - 1));
    expect(pause.until).to.equal(after(clock, 3_000));
  });

  it("ends when the log no longer has it, unless it had ended by the wall clock", () => {
    const { clock, pause, resumed } = begin();
    pause.follow(after(clock, 2_000));
    pause.follow(undefined);
    expect(pause.until).to.equal(null);
    clock.advance(2_000);
    expect(resumed).to.deep.equal([]);

    const wall = { aheadMs: 0 };
    const jumping = Object.assign(Object.create(clock) as ManualClock, { now: () => clock.monotonic() + wall.aheadMs,
      monotonic: () => clock.monotonic(), schedule: (ms: number, task: () => void) => clock.schedule(ms, task) });
    const timed = new ReceiverPause(jumping, () => undefined);
    timed.follow(timestamp(jumping.now() + 2_000));
    wall.aheadMs = 3_600_000;
    timed.follow(undefined);
    expect(timed.until).to.not.equal(null);
    wall.aheadMs = -3_600_000;
    clock.advance(2_000);
    expect(timed.until).to.equal(null);
  });
});

describe("after a 429, a delivery worker", () => {
  let relay: ManualRelay;
  let staged: Stage;

  beforeEach(async () => {
    relay = await ManualRelay.open();
    staged = await stage(relay);
    setAsTheRelays(staged.clock);
  });
  afterEach(async () => {
    const stopping = staged.worker.stop(60_000);
    for (const one of staged.sent) one.answer();
    await stopping;
    await relay.close();
  });

  /** Sets a clock to the time of the API. */
  const setAsTheRelays = (clock: ManualClock) => clock.advance(Math.floor(relay.clock.now() - clock.now()));
  const woken = () => staged.take({ kind: "wake", destinationId: staged.destinationId, position: "" });
  const circuit = async () =>
    (await relay.api.world.aggregates.current(circuits, staged.destinationId)).state as Circuit;
  const factsOfCircuit = async () => (await relay.store.readStream(streams.circuit(staged.destinationId))).length;
  /** Gives pending work time to go on. */
  const turns = async () => {
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
  };
  const waits = (id: string) =>
    eventually(() => loadWebhook(relay.store, id), ({ state }) => state?.status === "WaitingRetry");
  /** Posts `count` events, and waits until all are sent; none is answered. */
  const underWay = async (count: number) => {
    await staged.patch({ serverRateLimit: count });
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) ids.push(await staged.post());
    woken();
    await until(() => staged.sent.length === count);
    return ids;
  };

  it("begins no attempt before the longest pause is over, then goes on by itself", async () => {
    const { clock, sent, post, begun } = staged;
    const ids = await underWay(3);
    sent[0]?.answer(tooMany(5_000));
    sent[1]?.answer(tooMany(2_000));
    sent[2]?.answer(tooMany());
    await Promise.all(ids.map(waits));
    ids.push(await post());
    expect(await begun(ids[3]!), "claimed with its acceptance").to.deep.equal(["EventAccepted"]);
    await relay.drained();
    woken();
    await turns();
    clock.advance(4_999);
    woken();
    await turns();
    expect(sent).to.have.length(3);
    clock.advance(1);
    expect((await staged.answered(6)).length).to.equal(6);
  });

  it("pauses for a second if the receiver sent no Retry-After", async () => {
    const { clock, sent, post } = staged;
    const ids = await underWay(1);
    sent[0]?.answer(tooMany());
    await waits(ids[0]!);
    await post();
    woken();
    clock.advance(999);
    woken();
    await turns();
    expect(sent).to.have.length(1);
    clock.advance(1);
    await until(() => sent.length === 2);
  });

  it("neither counts the attempts nor resets the count, and writes one fact for many", async () => {
    const { sent, tell } = staged;
    await tell(attemptEnded(another, false, 3));
    const ids = await underWay(10);
    for (const one of sent) one.answer(tooMany());
    await Promise.all(ids.map(waits));
    await turns();
    expect(await circuit()).to.include({ position: "Closed", failures: 1 });
    expect(await factsOfCircuit()).to.equal(2);
  });

  it("makes the destination's next owner keep to the pause", async () => {
    const { sent, worker, destinationId } = staged;
    const ids = await underWay(1);
    sent[0]?.answer(tooMany(60_000));
    await waits(ids[0]!);
    await until(() => staged.aggregates.peek(circuits, destinationId)?.state?.pausedUntil !== undefined);
    await staged.post();
    await worker.stop(60_000);
    const later: string[] = [];
    const next = workerOf(relay, async ({ webhook }) => (later.push(webhook.id), success));
    next.clock.advance(staged.clock.now() - next.clock.now());
    await next.worker.start();
    const wake = () => next.worker.take([{ kind: "wake", destinationId, position: "" }], next.session);
    wake();
    await until(() => next.clock.pending.includes(60_000));
    next.clock.advance(59_999);
    wake();
    await turns();
    expect(later).to.deep.equal([]);
    next.clock.advance(1);
    await until(() => later.length === 2);
    await next.worker.stop(60_000);
  });

  it("keeps to its pause when a destination comes back, though the wall clock jumped beyond its end", async () => {
    const { sent, worker, destinationId, clock } = staged;
    const ids = await underWay(1);
    sent[0]?.answer(tooMany(20_000));
    await waits(ids[0]!);
    await until(() => staged.aggregates.peek(circuits, destinationId)?.state?.pausedUntil !== undefined);
    await staged.post();
    await relay.drained();
    worker.reassign(() => true, staged.session);
    clock.now = () => clock.monotonic() + 120_000;
    worker.take([{ kind: "wake", destinationId, position: "" }], { alive: true });
    await turns();
    clock.advance(19_999);
    await turns();
    expect(sent).to.have.length(1);
    clock.advance(1);
    await until(() => sent.length === 2);
  });

  it("goes on when a person sets the destination active", async () => {
    const { sent, post, patch, aggregates, destinationId } = staged;
    const ids = await underWay(1);
    sent[0]?.answer(tooMany(86_400_000));
    await waits(ids[0]!);
    await until(() => aggregates.peek(circuits, destinationId)?.state?.pausedUntil !== undefined);
    ids.push(await post());
    woken();
    await turns();
    expect(sent).to.have.length(1);
    await patch({ status: "active" });
    staged.take({ kind: "wake", destinationId, position: await relay.store.head() });
    await until(() => sent.length === 2);
    expect(sent[1]?.eventId).to.equal(ids[1]);
  });

  it("to a probe, probes again after the pause, with the next event", async () => {
    const { clock, sent, tell, post } = staged;
    await tell(attemptEnded(another, false));
    relay.clock.advance(301_000);
    clock.advance(301_000);
    await tell({ type: "HalfOpen", lost: null });
    const ids = [await post(), await post()];
    woken();
    await until(() => sent.length === 1);
    sent[0]?.answer(tooMany(2_000));
    await waits(ids[0]!);
    await eventually(circuit, ({ probe }) => probe === null);
    expect(await circuit()).to.include({ position: "HalfOpen", failures: 1, lastProbe: ids[0] });
    woken();
    clock.advance(1_999);
    woken();
    await turns();
    expect(sent).to.have.length(1);
    clock.advance(1);
    await until(() => sent.length === 2);
    expect(sent[1]?.eventId).to.equal(ids[1]);
    sent[1]?.answer();
    await eventually(circuit, ({ position }) => position === "Closed");
  });

  it("to the only held event, half-opens the open circuit at once, since no other event could probe", async () => {
    const { clock, sent, tell, post } = staged;
    await post();
    await tell(attemptEnded(another, false));
    const pass = (ms: number) => {
      relay.clock.advance(ms);
      clock.advance(ms);
    };
    pass(301_000);
    woken();
    await until(() => sent.length === 1);
    sent[0]?.answer(tooMany(3_600_000));
    await eventually(circuit, ({ position }) => position === "HalfOpen");
    const later = await post();
    woken();
    await turns();
    expect(sent, "during the pause").to.have.length(1);
    pass(3_600_001);
    woken();
    await until(() => sent.length === 2);
    expect((await circuit()).probe?.eventId).to.equal(sent[1]?.eventId);
    expect([later, sent[0]?.eventId]).to.include(sent[1]?.eventId);
  });

  it("to an attempt that was open when the circuit opened, half-opens the circuit at its time", async () => {
    const { clock, sent, tell } = staged;
    const ids = await underWay(1);
    await tell(attemptEnded(another, false));
    sent[0]?.answer(tooMany(3_600_000));
    await waits(ids[0]!);
    await eventually(circuit, ({ pausedUntil }) => pausedUntil !== undefined);
    woken();
    await turns();
    expect((await circuit()).position).to.equal("Open");
    relay.clock.advance(301_000);
    clock.advance(301_000);
    woken();
    await eventually(circuit, ({ position }) => position === "HalfOpen");
    expect(sent).to.have.length(1);
  });

  it("to a probe, leaves the circuit open while other events are held", async () => {
    const { clock, sent, tell, post } = staged;
    await post();
    const held = await post();
    await tell(attemptEnded(another, false));
    relay.clock.advance(301_000);
    clock.advance(301_000);
    woken();
    await until(() => sent.length === 1);
    sent[0]?.answer(tooMany(20_000));
    await eventually(circuit, ({ probe, lastProbe }) => probe === null && lastProbe !== undefined);
    await relay.drained();
    for (let wake = 0; wake < 3; wake += 1) {
      woken();
      await turns();
    }
    expect([sent.length, (await circuit()).position]).to.deep.equal([1, "Open"]);
    clock.advance(20_000);
    await until(() => sent.length === 2);
    expect(sent[1]?.eventId).to.equal(held);
  });

  it("or another failure of a probe, probes with the next event, so that none holds up the others", async () => {
    const { clock, sent, tell, post } = staged;
    const ids = [await post(), await post(), await post()];
    await tell(attemptEnded(another, false));
    for (const [probe, expected] of [0, 1, 2, 0].entries()) {
      relay.clock.advance(301_000);
      clock.advance(301_000);
      woken();
      await until(() => sent.length === probe + 1);
      expect(sent[probe]?.eventId, `probe ${probe}`).to.equal(ids[expected]);
      sent[probe]?.answer(probe === 3 ? success : refusal);
      await eventually(circuit, (now) => now.probe === null);
      await relay.drained();
    }
    await eventually(circuit, ({ position }) => position === "Closed");
  });
});
