import type { DueIndex } from "../application/delivery/due-index.ts";
import type { Clock } from "../ports/clock/clock.ts";
import { logStart } from "../ports/event-store.ts";
import type { WorkQueue } from "../ports/work-queue.ts";

const overlapMs = 1_000;
const everythingEveryMs = 3_000;
const deletedEveryMs = 60_000;
/** First attempts are on their way through the queue; one that waits longer than this was left to the due index. */
const firstAttemptGraceMs = 1_000;

interface SweeperParts {
  readonly dueIndex: DueIndex;
  readonly queue: Pick<WorkQueue, "publish">;
  readonly clock: Clock;
}

/**
 * Makes sure that no destination is forgotten: wakes those whose retries became due, whose circuit's timer ended,
 * whose work was dropped by the queue, or that were deleted before all their events were cancelled.
 */
export class Sweeper {
  readonly #parts: SweeperParts;
  #sweptTo: number;
  #everythingAt = -Infinity;
  #deletedAt = -Infinity;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#sweptTo = parts.clock.now();
  }

  /** Wakes each destination that has something to do now. */
  async sweep(): Promise<void> {
    const { dueIndex, clock, queue } = this.#parts;
    const now = clock.now();
    const monotonic = clock.monotonic();
    // The index lags the log by moments, and a clock that was set back must hide nothing.
    const since = Math.min(this.#sweptTo, now) - overlapMs;
    const due = new Set(await dueIndex.destinationsWithRetriesDue(since, now));
    for (const destination of await dueIndex.circuitsDue(now)) due.add(destination);
    if (monotonic - this.#everythingAt >= everythingEveryMs) {
      for (const destination of await dueIndex.destinationsWithWorkDue(now - firstAttemptGraceMs)) due.add(destination);
      this.#everythingAt = monotonic;
    }
    if (monotonic - this.#deletedAt >= deletedEveryMs) {
      for (const destination of await dueIndex.deletedDestinations()) due.add(destination);
      this.#deletedAt = monotonic;
    }
    if (due.size > 0) {
      await queue.publish([...due].map((destinationId) => ({ kind: "wake", destinationId, position: logStart })));
    }
    this.#sweptTo = now;
  }
}
