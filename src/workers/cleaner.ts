import type { Clock, Timer } from "../ports/clock.ts";
import type { ExpiringState } from "../ports/expiring-state.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
import type { Purger } from "./purger.ts";
import type { Retention } from "./retention.ts";

const tickMs = 500;
const retentionEveryMs = 60_000;
const leaseName = "cleaner";
/** Short: who takes over from a process that died should not wait long. */
const leaseMs = 5_000;

interface CleanerParts {
  readonly purger: Purger;
  readonly retention: Retention;
  readonly state: ExpiringState;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
  readonly workerId: string;
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
    const { state, workerId } = this.#parts;
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
    await state.release(leaseName, workerId);
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
    if (!(await this.#holdsLease())) return;
    if (clock.monotonic() - this.#retainedAt >= retentionEveryMs) {
      await retention.run();
      this.#retainedAt = clock.monotonic();
    }
    let worked = true;
    while (worked && !this.#stopped) worked = (await this.#holdsLease()) && (await purger.step());
  }

  #holdsLease(): Promise<boolean> {
    return this.#parts.state.lease(leaseName, this.#parts.workerId, leaseMs);
  }
}
