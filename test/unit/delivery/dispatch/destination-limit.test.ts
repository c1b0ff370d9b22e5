import { expect } from "chai";
import { leases } from "../../../../projections/due/due.ts";
import { destinations } from "../../../../src/features/destinations/facts.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { LogUnavailable, noStream } from "../../../../src/kernel/ports/event-store.ts";
import { attemptEnded } from "../../../support/circuits.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { refusal } from "../../../support/outcomes.ts";
import { eventually } from "../../../support/relay.ts";
import { stage, until, type Stage } from "../../../support/staged-worker.ts";

/** An event of the same destination. */
const another = "0193a1b2-0000-7000-8000-00000000ffff";

describe("a delivery worker keeps to a destination's limit, and", () => {
  let relay: ManualRelay;

  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  for (const [title, written] of [
    ["carries out a first attempt", true],
    ["frees the slot of a first attempt", false],
  ] as const) it(`${title} once the log ${written ? "shows" : "does not show"} its unanswered claim`, async () => {
    const staged = await stage(relay);
    const { sent, clock } = staged;
    const ids = [await staged.post()];
    staged.take({ kind: "wake", destinationId: staged.destinationId, position: "" });
    await staged.answered(1);
    await eventually(() => loadWebhook(relay.store, ids[0]!), ({ state }) => state?.status === "Succeeded");
    let asked = 0;
    relay.store.beforeAppend = async (stream, entries) => {
      if (entries[0]?.event.type !== "EventAccepted" || (asked += 1) > 1) return;
      if (written) await relay.store.append(stream, noStream, entries);
      throw new LogUnavailable("no answer");
    };
    expect((await staged.ask()).status).to.equal(503);
    expect(asked, "nothing is accepted twice").to.equal(written ? 2 : 1);
    for (let look = 0; look < 2; look += 1) {
      clock.advance(1_000);
      for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    }
    expect(sent).to.have.length(written ? 2 : 1);
    sent[1]?.answer();
    if (!written) expect(await staged.begun(await staged.post())).to.include("DeliveryAttemptStarted");
    for (const { answer } of sent) answer();
    await staged.worker.stop(60_000);
  });

  it("counts the open attempts of an earlier owner, and goes on by itself after their leases", async () => {
    const staged = await stage(relay);
    const { sent, clock } = staged;
    const ids = [await staged.post(), await staged.post()];
    await relay.deliveries.start(ids[0]!, undefined, 16_000);
    await relay.drained();
    staged.take({ kind: "wake", destinationId: staged.destinationId, position: "" });
    const sentIn = async (ms: number) => {
      clock.advance(ms);
      for (let turn = 0; sent.length === 0 && turn < 200; turn += 1) await new Promise(setImmediate);
      return sent.map(({ eventId }) => eventId);
    };
    expect(await sentIn(0)).to.deep.equal([]);
    expect(await sentIn(15_999)).to.deep.equal([]);
    expect(await sentIn(1)).to.deep.equal([ids[1]]);
    sent[0]?.answer();
    await staged.worker.stop(60_000);
  });

  it("starts nothing of a lost destination, and counts the other owner's open attempts on return", async () => {
    const staged = await stage(relay);
    const { worker, sent, destinationId } = staged;
    const wake = { kind: "wake", destinationId, position: "" } as const;
    const ids = [await staged.post(), await staged.post()];
    const quietTurns = async () => {
      for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    };
    staged.take(wake);
    await until(() => sent.length === 1);
    worker.reassign((id) => id === destinationId, staged.session);
    await staged.answered(1);
    await quietTurns();
    expect(await staged.begun(ids[1]!)).to.deep.equal(["EventAccepted"]);
    await relay.deliveries.start(ids[1]!, undefined, 16_000);
    ids.push(await staged.post());
    worker.take([wake], { alive: true });
    await quietTurns();
    expect(sent).to.have.length(1);
    staged.clock.advance(16_000);
    await quietTurns();
    expect(sent.map(({ eventId }) => eventId)).to.deep.equal([ids[0], ids[2]]);
    sent[1]?.answer();
    await worker.stop(60_000);
  });

  it("counts attempts of an owner in between, though its own look began before", async () => {
    const staged = await stage(relay);
    const { worker, sent, destinationId } = staged;
    const wake = { kind: "wake", destinationId, position: "" } as const;
    const ids = [await staged.post(), await staged.post()];
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const find = relay.models.find.bind(relay.models);
    relay.models.find = async (query) => {
      const found = await find(query);
      if (query.collection === leases.name) {
        asked.resolve();
        await answered.promise;
      }
      return found;
    };
    staged.take(wake);
    await asked.promise;
    worker.reassign((id) => id === destinationId, staged.session);
    await relay.deliveries.start(ids[0]!, undefined, 16_000);
    await relay.drained();
    worker.take([wake], { alive: true });
    answered.resolve();
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    expect(sent).to.have.length(0);
    staged.clock.advance(16_000);
    expect(await staged.answered(1)).to.deep.equal([ids[1]]);
    await worker.stop(60_000);
  });

  it("counts its own attempts only until they end when a destination comes back", async () => {
    const staged = await stage(relay);
    const { worker, sent, destinationId } = staged;
    const wake = { kind: "wake", destinationId, position: "" } as const;
    const ids = [await staged.post(), await staged.post()];
    staged.take(wake);
    await until(() => sent.length === 1);
    await relay.drained();
    worker.reassign((id) => id === destinationId, staged.session);
    worker.take([wake], { alive: true });
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    expect(sent).to.have.length(1);
    expect(await staged.answered(2)).to.deep.equal(ids);
    await worker.stop(60_000);
  });

  it("forgets no open attempt, even after a minute", async () => {
    const staged = await stage(relay);
    const { sent, take, clock } = staged;
    const wake = { kind: "wake", destinationId: staged.destinationId, position: "" } as const;
    const ids = [await staged.post()];
    take(wake);
    await until(() => sent.length === 1);
    clock.advance(60_000);
    ids.push(await staged.post());
    take(wake);
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    expect(sent).to.have.length(1);
    expect(await staged.answered(2)).to.deep.equal(ids);
    await staged.worker.stop(60_000);
  });

  describe("follows a change of the limit", () => {
    let staged: Stage;
    beforeEach(async () => {
      staged = await stage(relay);
    });
    afterEach(async () => {
      for (const { answer } of staged.sent) answer();
      await staged.worker.stop(60_000);
    });

    const wake = () => staged.take({ kind: "wake", destinationId: staged.destinationId, position: "" });
    const quietTurns = async () => {
      for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    };
    const sentIds = () => staged.sent.map(({ eventId }) => eventId);
    /** The worker knows a new limit, but no wake-up has come. */
    const limitTo = async (limit: number) => {
      await staged.patch({ serverRateLimit: limit });
      const known = () => staged.aggregates.peek(destinations, staged.destinationId)?.state?.serverRateLimit;
      await until(() => known() === limit);
    };
    /** So many events are being sent, and the limit allows no more. */
    const fill = async (limit: number) => {
      wake();
      await quietTurns();
      await limitTo(limit);
      const ids: string[] = [];
      while (ids.length < limit) ids.push(await staged.post());
      wake();
      await until(() => staged.sent.length === limit);
      return ids;
    };
    /** The event's stream is read only once the result is called. */
    const heldRead = (eventId: () => string) => {
      const [reading, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const read = relay.store.readStream.bind(relay.store);
      relay.store.readStream = async (stream, ...rest) => {
        if (stream === streams.event(eventId())) {
          reading.resolve();
          await release.promise;
        }
        return read(stream, ...rest);
      };
      return { reading: reading.promise, release: release.resolve };
    };

    it("before a waiting test event takes a place that becomes free", async () => {
      const ids = await fill(2);
      ids.push(await staged.test());
      wake();
      await quietTurns();
      await limitTo(1);
      staged.sent[0]?.answer();
      await quietTurns();
      expect(sentIds()).to.deep.equal(ids.slice(0, 2));
      staged.sent[1]?.answer();
      await until(() => staged.sent.length === 3);
      expect(sentIds()).to.deep.equal(ids);
    });

    it("before a test event that has waited since before another owner's attempt", async () => {
      const ids = await fill(1);
      ids.push(await staged.test());
      wake();
      await quietTurns();
      staged.worker.reassign((id) => id === staged.destinationId, staged.session);
      await limitTo(2);
      const others = await staged.post();
      await relay.deliveries.start(others, undefined, 16_000);
      await relay.drained();
      wake();
      await quietTurns();
      expect(sentIds()).to.deep.equal(ids.slice(0, 1));
      staged.clock.advance(16_000);
      await until(() => staged.sent.length === 2);
      expect(sentIds()).to.deep.equal(ids);
    });

    it("before an attempt whose event is still being read", async () => {
      const ids = await fill(1);
      const { reading, release } = heldRead(() => ids[1] ?? "");
      ids.push(await staged.post());
      await limitTo(2);
      wake();
      await reading;
      await limitTo(1);
      release();
      await quietTurns();
      expect(sentIds()).to.deep.equal(ids.slice(0, 1));
      staged.sent[0]?.answer();
      await until(() => staged.sent.length === 2);
      expect(sentIds()).to.deep.equal(ids);
    });

    it("before a probe whose event is still being read", async () => {
      const ids = await fill(1);
      await limitTo(2);
      await staged.tell(attemptEnded(another, false));
      relay.clock.advance(301_000);
      await staged.tell({ type: "HalfOpen", lost: null });
      const { reading, release } = heldRead(() => ids[1] ?? "");
      ids.push(await staged.post());
      wake();
      await reading;
      await limitTo(1);
      release();
      await quietTurns();
      expect(sentIds()).to.deep.equal(ids.slice(0, 1));
      staged.sent[0]?.answer();
      await until(() => staged.sent.length === 2);
      expect(sentIds()).to.deep.equal(ids);
    });
  });

  describe("writes an outcome", () => {
    const written: (boolean | undefined)[] = [];
    beforeEach(() => {
      written.length = 0;
      relay.store.beforeAppend = (_stream, entries, { mayWait }) => {
        if (/^Delivery(Succeeded|Failed)$/.test(entries[0]?.event.type ?? "")) written.push(mayWait);
      };
    });
    /** Delivers a first event after a wake-up, and a second one claimed at acceptance: `mayWait` of its outcome. */
    const outcomesOf = async (staged: Stage, limit: number) => {
      await staged.post();
      staged.take({ kind: "wake", destinationId: staged.destinationId, position: "" });
      await staged.answered(1);
      await until(() => written.length === 1);
      await staged.patch({ serverRateLimit: limit });
      const known = () => staged.aggregates.peek(destinations, staged.destinationId)?.state?.serverRateLimit;
      await until(() => known() === limit);
      await staged.post();
      await staged.answered(2);
      await until(() => written.length === 2);
      return written[1];
    };

    it("with others if the destination has a free slot", async () => {
      expect(await outcomesOf(await stage(relay), 2)).to.equal(true);
    });

    it("at once if its slot may be needed", async () => {
      expect(await outcomesOf(await stage(relay), 1)).to.equal(false);
    });

    it("at once if the attempt failed", async () => {
      expect(await outcomesOf(await stage(relay, undefined, refusal), 2)).to.equal(false);
    });
  });
});
