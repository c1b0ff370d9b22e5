import type { Repeats } from "../../application/repeats.ts";
import { isNewer } from "../../application/unreadable.ts";
import type { Clock } from "../../ports/clock/clock.ts";
import type { Logger } from "../../ports/telemetry.ts";

const pauseMs = 1_000;

/** What lanes report trouble with. */
export interface GuardParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly repeats: Repeats;
}

/** Trouble with an engine costs a lane a pause, never more. */
export class Guard {
  readonly #destinationId: string;
  readonly #parts: GuardParts;
  readonly #resume: () => void;
  #paused = false;

  /** `resume` is called at the end of a pause. */
  constructor(destinationId: string, parts: GuardParts, resume: () => void) {
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

  /** An engine that is away pauses every lane there is, and a newer release may have written of all destinations. */
  #tell(error: unknown): void {
    const { repeats, logger } = this.#parts;
    repeats.tell(
      isNewer(error) ? "records wait for a newer release" : String(error),
      () => logger.warn({ err: error, destinationId: this.#destinationId }, "delivery lane pauses"),
      (reason, times) => logger.warn({ reason, times }, "delivery lanes pause"),
    );
  }
}
