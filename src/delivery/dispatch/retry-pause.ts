import { isNewer } from "../../kernel/log/unreadable.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import type { LogThrottle } from "../../kernel/tools/log-throttle.ts";

const pauseMs = 1_000;

/** The parts with which dispatchers pause and log. */
export interface RetryPauseParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logThrottle: LogThrottle;
}

/** A pause of a dispatcher after an engine has failed; then the dispatcher goes on. */
export class RetryPause {
  readonly #destinationId: string;
  readonly #parts: RetryPauseParts;
  readonly #resume: () => void;
  #paused = false;

  /** `resume` is called at the end of a pause. */
  constructor(destinationId: string, parts: RetryPauseParts, resume: () => void) {
    this.#destinationId = destinationId;
    this.#parts = parts;
    this.#resume = resume;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** The task's result; undefined where it fails, which begins a pause. */
  async run<T>(task: () => Promise<T>): Promise<T | undefined> {
    try {
      return await task();
    } catch (error) {
      this.#tell(error);
      this.#paused = true;
      this.#parts.clock.schedule(pauseMs, () => {
        this.#paused = false;
        this.#resume();
      });
      return undefined;
    }
  }

  /** An unavailable engine pauses every dispatcher, and so may entries of a newer release: hence the log throttle. */
  #tell(error: unknown): void {
    const { logThrottle, logger } = this.#parts;
    logThrottle.tell(
      isNewer(error) ? "records wait for a newer release" : String(error),
      () => logger.warn({ err: error, destinationId: this.#destinationId }, "delivery dispatcher pauses"),
      (reason, times) => logger.warn({ reason, times }, "delivery dispatchers pause"),
    );
  }
}
