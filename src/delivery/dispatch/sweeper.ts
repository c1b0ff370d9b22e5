import type { Clock } from "../../kernel/ports/clock.ts";
import { logStart } from "../../kernel/ports/event-store.ts";
import type { WorkQueue } from "../../kernel/ports/work-queue.ts";
import type { DueIndex } from "../requests/due-index.ts";

const overlapMs = 1_000;
/** First attempts arrive through the queue; after this time they have been left to the due index. */
const firstAttemptGraceMs = 1_000;

interface SweeperParts {
  readonly dueIndex: Pick<
    DueIndex, "destinationsWithRetriesDue" | "circuitsDue" | "destinationsWithWorkDue" | "deletedDestinations"
  >;
  readonly queue: Pick<WorkQueue, "publish">;
  readonly clock: Clock;
}

/** Makes sure that no destination is forgotten. A slow or failed search holds up no other. */
export class Sweeper {
  readonly #parts: SweeperParts;
  #sweptTo: number;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#sweptTo = parts.clock.now();
  }

  async wakeForRetries(): Promise<void> {
    const { dueIndex, clock } = this.#parts;
    const now = clock.now();
    // The index lags the log by moments, and a clock that was set back must hide nothing.
    const since = Math.min(this.#sweptTo, now) - overlapMs;
    await this.#wake(await dueIndex.destinationsWithRetriesDue(since, now));
    this.#sweptTo = now;
  }

  /** Wakes destinations whose circuit's timer, or whose probe's lease, is over. */
  async wakeForCircuits(): Promise<void> {
    const { dueIndex, clock } = this.#parts;
    await this.#wake(await dueIndex.circuitsDue(clock.now()));
  }

  /** Wakes destinations with any work due, also work that the queue or an earlier wake-up lost. */
  async wakeForAnything(): Promise<void> {
    const { dueIndex, clock } = this.#parts;
    await this.#wake(await dueIndex.destinationsWithWorkDue(clock.now() - firstAttemptGraceMs));
  }

  /** Wakes destinations that were deleted before all their events were cancelled. */
  async wakeDeleted(): Promise<void> {
    await this.#wake(await this.#parts.dueIndex.deletedDestinations());
  }

  async #wake(destinations: Iterable<string>): Promise<void> {
    const items = Array.from(destinations, (destinationId) =>
      ({ kind: "wake", destinationId, position: logStart } as const));
    if (items.length > 0) await this.#parts.queue.publish(items);
  }
}
