import { leaseMs, renewEveryMs, type LeadershipParts } from "./leadership.ts";
import { Loop, type Role } from "./loop.ts";

/** The lease that all processes of a relay hold together, or an operator's command holds alone. */
export const processLease = "process";
const everyProcess = "relay";

/** Holds the lease that all processes of a relay share; an operator's command must have it alone. */
export class ProcessLease implements Role {
  readonly #parts: LeadershipParts;
  readonly #loop: Loop;
  #isRefused = false;

  constructor(parts: LeadershipParts) {
    this.#parts = parts;
    this.#loop = new Loop(parts.clock, async () => {
      await this.#renew();
      return renewEveryMs;
    });
  }

  /** Resolves once the lease is held: after the end of an operator's command. */
  async start(): Promise<void> {
    while (!(await this.#renew()) && !this.#loop.stopped) await this.#loop.rest(renewEveryMs);
    this.#loop.start(renewEveryMs);
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** False, too, while the expiring state does not answer: the engine watch reports that. */
  async #renew(): Promise<boolean> {
    const { state, logger, metrics } = this.#parts;
    const isHeld = await state.lease(`role/${processLease}`, everyProcess, leaseMs).catch(() => null);
    if (isHeld === null) return false;
    if (!isHeld && !this.#isRefused) {
      metrics.anomaly("leadership");
      logger.warn({}, "an operator's command wants these engines for itself");
    }
    this.#isRefused = !isHeld;
    return isHeld;
  }
}
