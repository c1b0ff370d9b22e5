import { timestamp } from "../../../kernel/domain/time.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { serviceOrigin } from "../../../kernel/log/origin.ts";
import type { Instruments } from "../../../kernel/ports/telemetry.ts";
import { LogThrottle } from "../../../kernel/tools/log-throttle.ts";
import type { Forgetting } from "./forgetting.ts";

/** The process that deletes a user forgets it, too, and has this long to do so. */
const graceMs = 2_000;

/** Finishes forgetting deleted users where a process died before it had. */
export class Forgetter {
  readonly #parts;
  readonly #failures: LogThrottle;

  constructor(parts: Instruments & Pick<KernelParts, "ids"> & { readonly forgetting: Forgetting }) {
    this.#parts = parts;
    this.#failures = new LogThrottle(parts.clock);
  }

  /** Forgets each user that should be forgotten by now, until `isOver`; the others are left to the next run. */
  async run(isOver: () => boolean): Promise<void> {
    const { forgetting, clock, ids, logger, metrics } = this.#parts;
    for (const user of await forgetting.overdue(timestamp(clock.now() - graceMs))) {
      if (isOver()) return;
      try {
        const done = await forgetting.forget(user, serviceOrigin("forgetter", ids));
        if (done) logger.info({ ...user }, "finished forgetting a deleted user");
      } catch (error) {
        metrics.anomaly("forgetter");
        this.#failures.tell(
          user.userId,
          () => logger.warn({ err: error, ...user }, "forgetting a deleted user failed and is tried again"),
          (userId, times) => logger.warn({ userId, times }, "forgetting a deleted user still fails"),
        );
      }
    }
  }
}
