import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { Loop } from "../../kernel/workers/loop.ts";
import type { KeyRotation } from "./key-rotation.ts";

const retryMs = 5_000;

/** Re-wraps keys in the background until all are under the newest master key, and logs when that is done. */
export class KeyRotator {
  readonly #parts;
  readonly #loop: Loop;

  constructor(parts: Instruments & { readonly rotation: KeyRotation }) {
    this.#parts = parts;
    this.#loop = new Loop(parts.clock, () => this.#tryToFinish());
  }

  /** Begins at once, and ends by itself when every key that can be is re-wrapped. */
  start(): void {
    this.#loop.start();
  }

  /** Resolves when nothing is being re-wrapped any more; the next start goes on. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #tryToFinish(): Promise<number | null> {
    const { rotation, logger, metrics } = this.#parts;
    const stopped = () => this.#loop.stopped;
    try {
      const { rewrapped, left, through } = await rotation.finish(stopped);
      if (left > 0) {
        metrics.anomaly("key rotation");
        logger.error({ rewrapped, left }, "some keys cannot be re-wrapped: keep the old master keys");
      } else if (rewrapped > 0 && through) {
        logger.info({ rewrapped }, "every key is under the newest master key: nothing needs the old ones any more");
      }
      return null;
    } catch (error) {
      if (stopped()) return null;
      metrics.anomaly("key rotation");
      logger.warn({ err: error }, "re-wrapping keys failed and is tried again");
      return retryMs;
    }
  }
}
