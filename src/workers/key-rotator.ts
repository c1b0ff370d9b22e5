import type { KeyRotation } from "../application/key-rotation.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
import { Pause } from "./pause.ts";

const retryMs = 5_000;

interface KeyRotatorParts {
  readonly rotation: KeyRotation;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
}

/** Re-wraps keys in the background until all are under the newest master key; an operator learns when that is. */
export class KeyRotator {
  readonly #parts: KeyRotatorParts;
  readonly #pause: Pause;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: KeyRotatorParts) {
    this.#parts = parts;
    this.#pause = new Pause(parts.clock);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when nothing is being re-wrapped any more; the next start goes on. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pause.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { rotation, logger, metrics } = this.#parts;
    const stopped = () => this.#stopped;
    while (!stopped()) {
      try {
        const { rewrapped, left } = await rotation.finish(stopped);
        if (left > 0) {
          metrics.trouble("key rotation");
          logger.error({ rewrapped, left }, "some keys cannot be re-wrapped: keep the old master keys");
        } else if (rewrapped > 0 && !stopped()) {
          logger.info({ rewrapped }, "every key is under the newest master key: nothing needs the old ones any more");
        }
        return;
      } catch (error) {
        if (stopped()) return;
        metrics.trouble("key rotation");
        logger.warn({ err: error }, "re-wrapping keys failed and is tried again");
        await this.#pause.wait(retryMs);
      }
    }
  }
}
