import { millis, timestamp, type Timestamp } from "../../kernel/domain/time.ts";
import { isNewer } from "../../kernel/log/unreadable.ts";
import type { Clock, Timer } from "../../kernel/ports/clock.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import type { LogThrottle } from "../../kernel/tools/log-throttle.ts";

/** The pause that a receiver asked for by 429: the longest one, by the monotonic clock. The log has it, too. */
export class ReceiverPause {
  readonly #clock: Clock;
  readonly #resume: () => void;
  #end: { readonly at: number; readonly until: Timestamp } | null = null;
  #logged: Timestamp | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, resume: () => void) {
    this.#clock = clock;
    this.#resume = resume;
  }

  get until(): Timestamp | null {
    if (this.#end && this.#end.at <= this.#clock.monotonic()) this.#end = null;
    return this.#end?.until ?? null;
  }

  /** The receiver asks for `ms` from now on. */
  ask(ms: number): void {
    const at = this.#clock.monotonic() + ms;
    if (ms <= 0 || (this.#end && at <= this.#end.at)) return;
    this.#end = { at, until: timestamp(this.#clock.now() + Math.ceil(ms)) };
    this.#timer?.cancel();
    this.#timer = this.#clock.schedule(ms, this.#resume);
  }

  /** Follows the log: it has pauses that former owners were asked for, and shows if a person ended a pause. */
  follow(pausedUntil: Timestamp | undefined): void {
    if (pausedUntil === this.#logged) return;
    const before = this.#logged;
    this.#logged = pausedUntil;
    const now = this.#clock.now();
    if (pausedUntil === undefined) {
      // A pause that is over disappears from the log. If it is not over, a person ended it.
      if (before !== undefined && millis(before) > now) {
        this.#end = null;
        this.unwatch();
      }
    } else if (pausedUntil !== this.#end?.until) this.ask(millis(pausedUntil) - now);
  }

  /** From now on the end of the pause does not call `resume`. */
  unwatch(): void {
    this.#timer?.cancel();
  }
}

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
