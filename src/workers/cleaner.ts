import type { Clock } from "../ports/clock.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
import { Loop } from "./loop.ts";
import type { Purger } from "./purger.ts";
import type { Retention } from "./retention.ts";

const tickMs = 500;
const retentionEveryMs = 60_000;

interface CleanerParts {
  readonly purger: Purger;
  readonly retention: Retention;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
}

/**
 * Runs {@link Purger} and {@link Retention} in the background. One process does it at a time; should two, that
 * costs work done twice, nothing else.
 */
export class Cleaner {
  readonly #parts: CleanerParts;
  #retainedAt = -Infinity;
  readonly #loop: Loop;

  constructor(parts: CleanerParts) {
    this.#parts = parts;
    this.#loop = new Loop(parts.clock, async () => {
      await this.#tick().catch((error: unknown) => {
        parts.metrics.trouble("cleaner");
        parts.logger.warn({ err: error }, "clearing away failed; it is done again");
      });
      return tickMs;
    });
  }

  /** Begins after half a second, with what tenants keep no longer. */
  start(): void {
    this.#loop.start(tickMs);
  }

  /** Resolves when the step under way is done. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #tick(): Promise<void> {
    const { purger, retention, clock } = this.#parts;
    const isOver = () => this.#loop.stopped;
    if (clock.monotonic() - this.#retainedAt >= retentionEveryMs) {
      await retention.run(isOver);
      this.#retainedAt = clock.monotonic();
    }
    let worked = true;
    while (worked && !isOver()) worked = await purger.step(isOver);
  }
}
