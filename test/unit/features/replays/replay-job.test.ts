import { expect } from "chai";
import {
  decide, evolve, type ReplayJob, type ReplayJobCommand, type ReplayJobEvent, type ReplayOrder,
} from "../../../../src/features/replays/facts.ts";
import { specificationsOf } from "../../../support/given.ts";

const tenantId = "0193a1b2-c3d4-7000-8000-000000000001";
const replayId = "0193a1b2-c3d4-7000-8000-00000000000e";
const events = ["0193a1b2-c3d4-7000-8000-0000000000e1", "0193a1b2-c3d4-7000-8000-0000000000e2"];
const at = "2026-01-15T09:30:00.000Z";
const later = "2026-01-15T09:31:00.000Z";
const about = { replayId, tenantId };
const order: ReplayOrder = {
  destinationId: null, senderId: null, eventType: null, tag: null, ids: null, statuses: ["CriticalFailure"],
  from: null, to: null, toDestinationId: null, perSecond: 50, upTo: "7", matched: 5,
};
const progress = { done: 1, skipped: 1, cursor: events[1]!, batch: events };

const ordered: ReplayJobEvent = { type: "ReplayJobOrdered", data: { ...about, ...order, at } };
const progressed: ReplayJobEvent = { type: "ReplayJobProgressed", data: { ...about, ...progress, at } };
const cancelled: ReplayJobEvent = { type: "ReplayJobCancelled", data: { ...about, ...progress, at } };
const finished = (done: number, skipped: number, cancelledAt: string | null = null): ReplayJobEvent =>
  ({ type: "ReplayJobFinished", data: { ...about, done, skipped, cancelledAt, at: later } });

describe("a replay", () => {
  const given = specificationsOf<ReplayJob | undefined, ReplayJobCommand, ReplayJobEvent>({
    initial: () => undefined, evolve, decide,
  });
  const cancel = { type: "Cancel", at } as const;
  const report = { type: "Progress", progress, at } as const;
  const finish = (done: number) => ({ type: "Finish", done, at: later }) as const;

  it("is ordered once", () => {
    const command = { type: "Order", ...about, order, at } as const;
    given([]).when(command).gives(ordered);
    given([ordered]).when(command).refused("conflict", "exists");
  });

  it("does nothing before it is ordered", () => {
    for (const command of [report, cancel, finish(0)]) given([]).when(command).refused("not-found", "not found");
  });

  it("records its progress while it runs", () => {
    given([ordered]).when(report).gives(progressed);
    given([ordered, cancelled]).when(report).changesNothing();
    given([ordered, finished(5, 0)]).when(report).changesNothing();
  });

  it("counts matching events that were not put to work as skipped in the end", () => {
    given([ordered, progressed]).when(finish(4)).gives(finished(4, 1));
    given([ordered, progressed, finished(4, 1)]).when(finish(4)).changesNothing();
    given([ordered, progressed, cancelled]).when(finish(2)).gives(finished(2, 3, at));
  });

  it("is cancelled only while it runs, with the progress of that moment", () => {
    given([ordered, progressed]).when(cancel).gives(cancelled);
    given([ordered, cancelled]).when(cancel).refused("invalid", "is Cancelled; only a Running one");
    given([ordered, finished(5, 0)]).when(cancel).refused("invalid", "is Finished; only a Running one");
    given([ordered, cancelled, finished(2, 3, at)]).when(cancel).refused("invalid", "is Cancelled");
  });

  it("is settled when it is counted, and was cancelled when it was cancelled", () => {
    const shown = (...facts: ReplayJobEvent[]) => {
      const { state, settled, finishedAt } = facts.reduce<ReplayJob | undefined>(evolve, undefined)!;
      return { state, settled, finishedAt };
    };
    expect(shown(ordered)).to.deep.equal({ state: "Running", settled: false, finishedAt: null });
    expect(shown(ordered, cancelled)).to.deep.equal({ state: "Cancelled", settled: false, finishedAt: null });
    expect(shown(ordered, cancelled, finished(2, 3, at)))
      .to.deep.equal({ state: "Cancelled", settled: true, finishedAt: at });
    expect(shown(ordered, finished(5, 0))).to.deep.equal({ state: "Finished", settled: true, finishedAt: later });
  });

  it("is told by its first and its newest fact alone", () => {
    for (const newest of [progressed, cancelled, finished(4, 1), finished(2, 3, at)]) {
      const between = newest.type === "ReplayJobFinished" && newest.data.cancelledAt !== null ? [cancelled] : [];
      const whole = [ordered, progressed, ...between, newest].reduce<ReplayJob | undefined>(evolve, undefined);
      expect([ordered, newest].reduce<ReplayJob | undefined>(evolve, undefined)).to.deep.equal(whole);
    }
  });
});
