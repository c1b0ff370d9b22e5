import type { Forgetting } from "../application/forgetting.ts";
import { timestamp } from "../domain/time.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
import { Loop } from "./loop.ts";

const everyMs = 1_000;
/** Who deletes a user forgets it too; only what that left undone is done here. */
const graceMs = 2_000;

interface ForgetterParts {
  readonly forgetting: Forgetting;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
}

/** Finishes forgetting deleted users where a process died before it had. */
export class Forgetter {
  readonly #parts: ForgetterParts;
  readonly #loop: Loop;

  constructor(parts: ForgetterParts) {
    this.#parts = parts;
    this.#loop = new Loop(parts.clock, async () => {
      await this.#sweep().catch((error: unknown) => this.#failed(error, {}));
      return everyMs;
    });
  }

  /** Looks at once, and then every second. */
  start(): void {
    this.#loop.start();
  }

  /** Resolves when the user being forgotten is; others are left to the next start. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #sweep(): Promise<void> {
    const { forgetting, clock, ids, logger } = this.#parts;
    for (const user of await forgetting.overdue(timestamp(clock.now() - graceMs))) {
      if (this.#loop.stopped) return;
      const actor = { type: "service", part: "forgetter" } as const;
      try {
        await forgetting.forget(user, { actor, correlationId: ids.uuid(), causationId: null });
        logger.info({ ...user }, "finished forgetting a deleted user");
      } catch (error) {
        this.#failed(error, user);
      }
    }
  }

  #failed(error: unknown, fields: object): void {
    this.#parts.metrics.trouble("forgetter");
    this.#parts.logger.warn({ err: error, ...fields }, "forgetting a deleted user failed and is tried again");
  }
}
