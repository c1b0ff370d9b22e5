import { expect } from "chai";
import { Pace, PaceTimer } from "../../../../src/delivery/dispatch/pace.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { stage, until } from "../../../support/staged-worker.ts";

/** A dispatcher with as much work as its pace allows. */
function busy(clock: ManualClock, paceTimer: PaceTimer, perSecond: number) {
  const sentAt: number[] = [];
  const pace: Pace = new Pace({ clock, paceTimer }, () => pump());
  const pump = () => {
    pace.follow(perSecond);
    while (pace.admits) {
      pace.take();
      sentAt.push(clock.monotonic());
    }
    pace.wait();
  };
  return { sentAt, pump };
}

describe("the pace of a destination", () => {
  const minutes = [[10, 590, 601], [0.1, 5, 7], [2.5, 148, 151], [10_000, 590_000, 600_600]] as const;
  for (const [perSecond, least, most] of minutes) {
    it(`allows ${perSecond} a second for a minute, begins with none, and bears late timers`, () => {
      const clock = new ManualClock();
      const { sentAt, pump } = busy(clock, new PaceTimer(clock), perSecond);
      pump();
      expect(sentAt).to.deep.equal([]);
      const begun = clock.monotonic();
      for (let turn = 0; clock.monotonic() < begun + 60_000; turn += 1) clock.advance(7 + turn % 11);
      expect(sentAt.length).to.be.within(least, most);
    });
  }

  it("saves hardly more than one attempt while there is nothing to send", () => {
    const clock = new ManualClock();
    const pace = new Pace({ clock, paceTimer: new PaceTimer(clock) }, () => undefined);
    pace.follow(10);
    clock.advance(60_000);
    expect(pace.admits).to.equal(true);
    pace.take();
    expect(pace.admits).to.equal(false);
  });

  it("needs one timer for all that wait, and none for those without a rate", () => {
    const clock = new ManualClock();
    const paceTimer = new PaceTimer(clock);
    const free = new Pace({ clock, paceTimer }, () => undefined);
    free.follow(null);
    free.wait();
    expect([free.admits, clock.pending]).to.deep.equal([true, []]);
    const all = [0.5, 3, 1, 100].map((perSecond) => busy(clock, paceTimer, perSecond));
    for (const { pump } of all) pump();
    expect(clock.pending).to.have.length(1);
    for (let ms = 0; ms < 2_100; ms += 10) clock.advance(10);
    expect(clock.pending).to.have.length(1);
    expect(all.map(({ sentAt }) => sentAt.length >= 1)).to.deep.equal([true, true, true, true]);
  });

  it("holds first attempts, and their claims say so", async () => {
    const relay = await ManualRelay.open();
    const staged = await stage(relay);
    await staged.patch({ ratePerSecond: 1 });
    // The worker's clock is ahead of the API's.
    staged.clock.advance(relay.clock.now() + 10_000 - staged.clock.now());
    const ids = [await staged.post(), await staged.post(), await staged.post()];
    staged.take({ kind: "wake", destinationId: staged.destinationId, position: "" });
    for (let second = 1; second <= ids.length; second += 1) {
      await until(() => staged.clock.pending.some((ms) => ms <= 1_010));
      expect(staged.sent).to.have.length(second - 1);
      staged.clock.advance(1_010);
      await until(() => staged.sent.length === second);
      staged.sent[second - 1]!.answer();
    }
    const facts = (await loadWebhook(relay.store, ids[2]!)).facts;
    expect(facts.find(({ type }) => type === "DeliveryAttemptStarted")?.data).to.include({ waitedFor: "rate-limit" });
    await staged.worker.stop(60_000);
    await relay.close();
  });

  it("counts nothing for events that were cancelled while they waited", async () => {
    const relay = await ManualRelay.open();
    const staged = await stage(relay);
    await staged.patch({ ratePerSecond: 1 });
    staged.clock.advance(relay.clock.now() + 10_000 - staged.clock.now());
    const cancelled = [await staged.post(), await staged.post(), await staged.post()];
    const kept = await staged.post();
    staged.take({ kind: "wake", destinationId: staged.destinationId, position: "" });
    await until(() => staged.clock.pending.some((ms) => ms <= 1_010));
    for (const id of cancelled) await staged.cancel(id);
    staged.clock.advance(1_010);
    await until(() => staged.sent.length === 1);
    expect(staged.sent[0]).to.include({ eventId: kept });
    staged.sent[0]!.answer();
    await staged.worker.stop(60_000);
    await relay.close();
  });
});
