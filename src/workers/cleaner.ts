import type { Clock, Timer } from "../ports/clock.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
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
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: CleanerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#next();
  }

  /** Resolves when the step under way is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #next(): void {
    if (this.#stopped) return;
    this.#timer = this.#parts.clock.schedule(tickMs, () => {
      this.#running = this.#tick()
        .catch((error: unknown) => {
          this.#parts.metrics.trouble("cleaner");
          this.#parts.logger.warn({ err: error }, "clearing away failed; it is done again");
        })
        .finally(() => this.#next());
    });
  }

  async #tick(): Promise<void> {
    const { purger, retention, clock } = this.#parts;
    if (clock.monotonic() - this.#retainedAt >= retentionEveryMs) {
      await retention.run();
      this.#retainedAt = clock.monotonic();
    }
    let worked = true;
    while (worked && !this.#stopped) worked = await purger.step();
  }
}
