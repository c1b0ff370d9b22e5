import { expect } from "chai";
import { Holds } from "../../../../src/delivery/dispatch/work.ts";
import { circuits } from "../../../../src/features/circuits/facts.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { attemptEnded } from "../../../support/circuits.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { eventually } from "../../../support/relay.ts";
import { isHeld, stage, until, type Stage } from "../../../support/staged-worker.ts";

/** An event of the same destination. */
const another = "0193a1b2-0000-7000-8000-00000000ffff";

describe("a claim states the last hold of its event", () => {
  let relay: ManualRelay;
  let staged: Stage;
  beforeEach(async () => {
    relay = await ManualRelay.open();
    staged = await stage(relay);
    pass();
    const id = await staged.post();
    wake();
    await delivered(id, 1);
    // From now on the worker has everything in memory: it acts at once on a wake-up.
  });
  afterEach(async () => {
    await staged.worker.stop(60_000);
    await relay.close();
  });

  /** Time goes on; the worker's clock is ahead of the API's. */
  const pass = (ms = 0) => {
    relay.clock.advance(ms);
    staged.clock.advance(relay.clock.now() + 10_000 - staged.clock.now());
  };
  const wake = () => staged.take({ kind: "wake", destinationId: staged.destinationId, position: "" });
  const circuit = () => staged.aggregates.peek(circuits, staged.destinationId)?.state;
  const factsOf = async (id: string) => (await loadWebhook(relay.store, id)).facts;
  /** The event is delivered, by the n-th request that the worker sends. */
  const delivered = async (id: string, n: number) => {
    await until(() => staged.sent.length >= n);
    const { eventId, answer } = staged.sent[n - 1]!;
    expect(eventId).to.equal(id);
    answer();
    await eventually(() => factsOf(id), (facts) => facts.at(-1)?.type === "DeliverySucceeded", 10_000);
  };
  /** The receiver asks for a pause of 20 s; events that are accepted meanwhile are not sent at once. */
  const pause = async () => {
    const pausedUntil = timestamp(staged.clock.now() + 20_000);
    await staged.tell({ type: "EndUncounted", late: false, eventId: another, pausedUntil });
    await until(() => circuit()?.pausedUntil === pausedUntil);
    wake();
  };
  /** The `waitedFor` of an event's newest claim; undefined if the fact has no such field. */
  const waitedFor = async (id: string) =>
    (await factsOf(id)).findLast(({ type }) => type === "DeliveryAttemptStarted")?.data as { waitedFor?: string };

  it("for a free place, and nothing where the event was sent at once", async () => {
    const first = await staged.post();
    wake();
    await until(() => staged.sent.length === 2);
    const second = await staged.post();
    pass(1_000);
    wake();
    await delivered(first, 2);
    await delivered(second, 3);
    pass(1_000);
    const third = await staged.post();
    wake();
    await delivered(third, 4);
    expect(await waitedFor(first)).not.to.have.property("waitedFor");
    expect(await waitedFor(second)).to.have.property("waitedFor", "concurrency-limit");
    expect(await waitedFor(third)).not.to.have.property("waitedFor");
  });

  it("for its destination to be active", async () => {
    const { aggregates, destinationId, patch, post } = staged;
    await pause();
    const id = await post();
    await patch({ status: "inactive" });
    await until(() => isHeld(aggregates, destinationId));
    wake();
    pass(21_000);
    await patch({ status: "active" });
    await until(() => !isHeld(aggregates, destinationId));
    wake();
    await delivered(id, 2);
    expect(await waitedFor(id)).to.have.property("waitedFor", "destination-inactive");
  });

  it("for the end of a pause that the receiver asked for", async () => {
    await pause();
    const id = await staged.post();
    expect(staged.sent).to.have.length(1);
    pass(21_000);
    wake();
    await delivered(id, 2);
    expect(await waitedFor(id)).to.have.property("waitedFor", "receiver-pause");
  });

  it("for its circuit, the probe and the events behind it", async () => {
    await pause();
    const ids = [await staged.post(), await staged.post()];
    await staged.tell(attemptEnded(another, false));
    await until(() => circuit()?.position === "Open");
    wake();
    pass(400_000);
    wake();
    await delivered(ids[0]!, 2);
    await delivered(ids[1]!, 3);
    for (const id of ids) expect(await waitedFor(id)).to.have.property("waitedFor", "circuit-open");
  });
});

describe("the holds of a destination", () => {
  let now: number;
  let clock: ManualClock;
  let holds: Holds;
  beforeEach(() => {
    [now, clock] = [0, new ManualClock()];
    holds = new Holds({ now: () => clock.now() + now, monotonic: () => clock.monotonic() });
  });

  it("are none before the first", () => {
    expect(holds.end()).to.equal(undefined);
  });

  it("end when events are sent again, and the last one stays known", () => {
    holds.begin("circuit-open");
    holds.begin("receiver-pause");
    clock.advance(5_000);
    const last = { reason: "receiver-pause", until: clock.now() };
    expect(holds.end()).to.deep.equal(last);
    clock.advance(60_000);
    expect(holds.end()).to.deep.equal(last);
  });

  it("are unknown after a jump of the wall clock, either way", () => {
    for (const jump of [3_600_000, -3_600_000]) {
      holds.begin("circuit-open");
      holds.end();
      now += jump;
      expect(holds.end()).to.equal(undefined);
      holds.begin("receiver-pause");
      expect(holds.end()).to.deep.equal({ reason: "receiver-pause", until: clock.now() + now });
    }
  });

  it("are unknown where events waited for something else meanwhile", () => {
    holds.begin("circuit-open");
    holds.end();
    holds.begin("circuit-open");
    holds.forget();
    expect(holds.end()).to.equal(undefined);
  });
});
