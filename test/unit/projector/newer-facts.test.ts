import { expect } from "chai";
import { circuits } from "../../../src/features/circuits/facts.ts";
import { loadWebhook } from "../../../src/features/events/webhooks.ts";
import { streams } from "../../../src/kernel/domain/streams.ts";
import { attemptEnded } from "../../support/circuits.ts";
import { ManualRelay } from "../../support/manual-relay.ts";
import { refusal, success } from "../../support/outcomes.ts";
import { stage, until, type Stage } from "../../support/staged-worker.ts";

/** An event of the same destination. */
const another = "0193a1b2-0000-7000-8000-00000000ffff";

describe("a delivery worker that meets facts of a newer release", () => {
  let relay: ManualRelay;
  let staged: Stage;

  beforeEach(async () => {
    relay = await ManualRelay.open();
    staged = await stage(relay);
  });
  afterEach(async () => {
    await staged.worker.stop(60_000);
    expect(relay.api.errors).to.deep.equal([]);
    await relay.close();
  });

  const wake = () => staged.take({ kind: "wake", destinationId: staged.destinationId, position: "" });
  const typesIn = async (stream: string) => (await relay.store.readStream(stream)).map(({ type }) => type);
  /** Lets the worker run through several of its retry pauses. */
  const idle = async () => {
    for (let second = 0; second < 5; second += 1) {
      staged.clock.advance(1_000);
      for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    }
  };
  const recordOf = {
    circuit: () => streams.circuit(staged.destinationId),
    destination: () => streams.destination(staged.destinationId),
    tenant: () => streams.tenant(staged.tenantId),
  };

  for (const record of ["circuit", "destination", "tenant"] as const) {
    it(`starts no attempt if one is about the destination's ${record}, and delivers to others`, async () => {
      const { destinationId: other, path, apiKey } = await staged.openAnother();
      if (record === "circuit") await staged.tell(attemptEnded(another, false, 10));
      const first = await staged.post();
      await relay.store.appendNewer(recordOf[record]());
      wake();
      await idle();
      expect(staged.sent).to.deep.equal([]);
      expect(await typesIn(streams.event(first)), "neither given up nor cancelled").to.deep.equal(["EventAccepted"]);
      if (record === "tenant") return;
      const neighbour = await relay.accept({ path, apiKey });
      await relay.drained();
      staged.take({ kind: "wake", destinationId: other, position: "" });
      expect(await staged.answered(1)).to.deep.equal([neighbour]);
    });
  }

  for (const record of ["circuit", "destination", "tenant"] as const) it(`reads a newer ${record} once`, async () => {
    await staged.tell(attemptEnded(another, false, 10));
    await staged.post();
    await relay.store.appendNewer(recordOf[record]());
    const readStream = relay.store.readStream.bind(relay.store);
    const asked: string[] = [];
    relay.store.readStream = async (stream, ...rest) => {
      asked.push(stream);
      return readStream(stream, ...rest);
    };
    // A wake-up with a position: the cached destination may be stale.
    staged.take({ kind: "wake", destinationId: staged.destinationId, position: "1" });
    await until(() => asked.includes(recordOf[record]()));
    await idle();
    asked.length = 0;
    await idle();
    expect(asked).to.deep.equal([]);
  });

  it("accepts events for a destination with an unreadable circuit, and claims none of them", async () => {
    await staged.post();
    wake();
    await staged.answered(1);
    await relay.store.appendNewer(recordOf.circuit());
    await until(() => staged.aggregates.peek(circuits, staged.destinationId) === undefined);
    const id = await staged.post();
    expect(await typesIn(streams.event(id))).to.deep.equal(["EventAccepted"]);
  });

  it("skips an event with such a fact, and delivers the others of its destination", async () => {
    const newer = await staged.post();
    const others = [await staged.post(), await staged.post()];
    await relay.store.appendNewer(streams.event(newer));
    wake();
    expect(await staged.answered(2)).to.deep.equal(others);
    await idle();
    expect(staged.sent).to.have.length(2);
    expect(await typesIn(streams.event(newer))).to.deep.equal(["EventAccepted", "FromTheFuture"]);
  });

  it("does not cancel an event with such a fact when its destination is deleted", async () => {
    const [newer, other] = [await staged.post(), await staged.post()];
    await relay.store.appendNewer(streams.event(newer));
    await staged.remove();
    wake();
    await until(async () => (await typesIn(streams.event(other))).at(-1) === "EventCancelled");
    await idle();
    expect(await typesIn(streams.event(newer))).to.deep.equal(["EventAccepted", "FromTheFuture"]);
  });

  it("probes a half-open circuit with the next event, and writes nothing about the unreadable one", async () => {
    await staged.tell(attemptEnded(another, false));
    relay.clock.advance(301_000);
    await staged.tell({ type: "HalfOpen", lost: null });
    const [newer, other] = [await staged.post(), await staged.post()];
    await relay.store.appendNewer(streams.event(newer));
    wake();
    expect(await staged.answered(1)).to.deep.equal([other]);
    await staged.worker.stop(60_000);
    expect(JSON.stringify(await relay.store.readStream(recordOf.circuit()))).not.to.include(newer);
  });

  for (const [how, outcome, status] of [
    ["a success", success, "Succeeded"], ["a failure", refusal, "WaitingRetry"],
  ] as const) {
    for (const record of ["circuit", "destination", "tenant"] as const) {
      it(`records ${how} of an attempt though the ${record} has such a fact by then`, async () => {
        await staged.tell(attemptEnded(another, false, 10));
        const id = await staged.post();
        wake();
        await until(() => staged.sent.length === 1);
        await relay.store.appendNewer(recordOf[record]());
        const before = await typesIn(recordOf.circuit());
        staged.sent[0]?.answer(outcome);
        await staged.worker.stop(60_000);
        expect((await loadWebhook(relay.store, id)).state?.status).to.equal(status);
        if (record !== "tenant") expect(await typesIn(recordOf.circuit())).to.deep.equal(before);
        expect(staged.sent).to.have.length(1);
      });
    }
  }

  it("appends nothing after such a fact that came into the event's own stream during the attempt", async () => {
    const id = await staged.post();
    wake();
    await until(() => staged.sent.length === 1);
    await relay.store.appendNewer(streams.event(id));
    const facts = await typesIn(streams.event(id));
    const next = await staged.post();
    wake();
    expect(await staged.answered(2)).to.deep.equal([id, next]);
    await idle();
    expect(await typesIn(streams.event(id))).to.deep.equal(facts);
    expect(staged.sent).to.have.length(2);
  });
});
