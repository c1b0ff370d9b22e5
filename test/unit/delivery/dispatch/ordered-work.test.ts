import { expect } from "chai";
import { OrderedWork } from "../../../../src/delivery/dispatch/ordered-work.ts";
import type { Due, Ended } from "../../../../src/delivery/dispatch/work.ts";
import { timestampNow } from "../../../../src/kernel/ports/clock.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("the work at hand of an ordered destination", () => {
  let clock: ManualClock;
  let work: OrderedWork;

  beforeEach(() => {
    clock = new ManualClock();
    work = new OrderedWork(clock);
  });

  const row = (slot: number, position: string, dueAt: string | null = timestampNow(clock)) =>
    ({ eventId: `e${position}`, destinationId: "d", slot, position, dueAt });
  const end = ({ place }: Due, ended: Ended | undefined) => work.end(place!, ended);
  const take = () => work.take()!;

  it("gives the oldest event of the free slots, and of each slot one at a time", () => {
    work.offer(1, [row(1, "2"), row(1, "4")], false);
    work.offer(2, [row(2, "1"), row(2, "3")], false);
    const [one, other] = [take(), take()];
    expect([one.eventId, other.eventId, work.take()]).to.deep.equal(["e1", "e2", undefined]);
    end(other, "delivered");
    expect(take().eventId).to.equal("e4");
    end(one, "given up");
    expect(take().eventId).to.equal("e3");
  });

  for (const ended of ["failed", "nothing to do", "not ours", undefined] as const) {
    it(`gives no later event of a slot after its head ended with ${ended}`, () => {
      work.offer(1, [row(1, "1"), row(1, "2")], true);
      expect(end(take(), ended)).to.equal(ended === "not ours");
      expect([work.take(), work.idle]).to.deep.equal([undefined, true]);
      expect(work.free([1])).to.deep.equal([1]);
      expect(work.passed(1)).to.equal(undefined);
    });
  }

  for (const ended of ["delivered", "given up", "over", "gone", "unreadable"] as const) {
    it(`goes on after a head that ended with ${ended}, and skips it in older answers of the due index`, () => {
      work.offer(1, [row(1, "1")], true);
      expect(end(take(), ended)).to.equal(true);
      expect(work.passed(1)).to.include({ position: "1", eventId: "e1" });
      work.offer(1, [row(1, "1"), row(1, "2")], false);
      expect(take().eventId).to.equal("e2");
    });
  }

  it("leaves a slot alone whose head is planned for later, or under way in another process", () => {
    work.offer(1, [row(1, "1", new Date(clock.now() + 1).toISOString()), row(1, "2")], false);
    work.offer(2, [row(2, "1", null), row(2, "2")], false);
    expect(work.take()).to.equal(undefined);
    expect(work.free([1, 2])).to.deep.equal([1, 2]);
  });

  it("asks for more after the last event at hand if a look passed over its slot meanwhile", () => {
    work.offer(1, [row(1, "1"), row(1, "2")], false);
    const one = take();
    expect(work.free([1, 3])).to.deep.equal([3]);
    expect(end(one, "delivered")).to.equal(false);
    expect(end(take(), "delivered")).to.equal(true);
  });

  it("keeps what it knows of finished events when it drops the others", () => {
    work.offer(1, [row(1, "1"), row(1, "2")], false);
    const one = take();
    work.drop();
    expect(end(one, "delivered")).to.equal(false);
    work.offer(1, [row(1, "1"), row(1, "2")], false);
    expect(take().eventId).to.equal("e2");
  });

  it("says since when an event need not wait any more for an earlier one", () => {
    work.offer(1, [row(1, "1"), row(1, "2")], false);
    const one = take();
    expect(one.held).to.equal(undefined);
    clock.advance(1_000);
    end(one, "delivered");
    expect(take().held).to.deep.equal({ reason: "ordering", until: clock.now() });
  });
});
