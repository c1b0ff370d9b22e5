import { expect } from "chai";
import type { LeaseDocument } from "../../../../projections/due/due.ts";
import { LostAttempts } from "../../../../src/delivery/dispatch/lost-attempts.ts";
import type { Outcomes } from "../../../../src/delivery/requests/recording.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import type { EventStore } from "../../../../src/kernel/ports/event-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

describe("a lease reported by a slow due index", () => {
  it("is timed from the answer, not from the query", async () => {
    const clock = new ManualClock();
    const looked: string[] = [];
    const startedAt = timestamp(clock.now());
    const eventId = "00000000-0000-4000-8000-000000000001";
    const lease: LeaseDocument = {
      key: `${eventId}:1`, eventId, destinationId: "d", attempt: 1, worker: "w", startedAt,
      leaseUntil: timestamp(clock.now() + 20_000),
    };
    let takesMs = 15_000;
    const dueIndex = {
      leases: async () => {
        clock.advance(takesMs);
        takesMs = 0;
        return [lease];
      },
    };
    const store = { readStream: async (stream: string) => (looked.push(stream), []) } as unknown as EventStore;
    const [workers, reach] = [{ isGone: () => false, held: async () => [] }, { reachableSince: 0 }];
    const outcomes = {} as Outcomes;
    const parts = { store, dueIndex, clock, outcomes, workers, reach, logger: quiet, metrics: uncounted };
    const lost = new LostAttempts(parts);
    const after = async (ms: number) => {
      clock.advance(ms);
      await lost.giveUp();
    };
    await after(1_000);
    await after(19_000);
    expect(looked).to.deep.equal([]);
    await after(1_000);
    expect(looked).to.have.length(1);
  });
});
