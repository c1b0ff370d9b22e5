import { expect } from "chai";
import type { AttemptLease, DueIndex } from "../../../src/application/delivery/due-index.ts";
import type { Outcomes } from "../../../src/application/delivery/outcomes.ts";
import { timestamp } from "../../../src/domain/time.ts";
import type { EventStore } from "../../../src/ports/event-store.ts";
import { Sweeper } from "../../../src/workers/sweeper.ts";
import { quiet, uncounted } from "../../support/api.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { eventually } from "../../support/relay.ts";

describe("a lease that a slow index tells of", () => {
  it("is timed from the answer, not from the question", async () => {
    const clock = new ManualClock();
    const looked: string[] = [];
    const startedAt = timestamp(clock.now());
    const lease: AttemptLease = {
      eventId: "00000000-0000-4000-8000-000000000001", destinationId: "d", attempt: 1, worker: "w", startedAt,
      leaseUntil: timestamp(clock.now() + 20_000),
    };
    let takesMs = 15_000;
    const dueIndex = {
      destinationsWithRetriesDue: async () => new Set(), circuitsDue: async () => [],
      destinationsWithWorkDue: async () => new Set(),
      leases: async () => {
        clock.advance(takesMs);
        takesMs = 0;
        return [lease];
      },
    } as unknown as DueIndex;
    const store = { readStream: async (stream: string) => (looked.push(stream), []) } as unknown as EventStore;
    const queue = { publish: async () => undefined, consume: () => Promise.reject(new Error("nobody consumes here")) };
    const parts = { store, dueIndex, queue, clock, outcomes: {} as Outcomes, logger: quiet, metrics: uncounted };
    const sweeper = new Sweeper(parts);
    const swept = async (ms: number) => {
      clock.advance(ms);
      await eventually(async () => clock.pending, ({ length }) => length > 0);
    };
    sweeper.start();
    await swept(1_000);
    await swept(19_000);
    expect(looked).to.deep.equal([]);
    await swept(1_000);
    expect(looked).to.have.length(1);
    await sweeper.stop();
  });
});
