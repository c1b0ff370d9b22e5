import { millis, timestamp, type Timestamp } from "../../kernel/domain/time.ts";
import type { Clock, Timer } from "../../kernel/ports/clock.ts";

/**
 * The pause that a destination's receiver asked for by 429, as its dispatcher knows it. The log has it, too, for later
 * owners; here it begins as soon as the answer is read. The longest pause asked for holds. It is timed by the monotonic
 * clock, so that a jump of the wall clock neither ends nor prolongs it.
 */
export class ReceiverPause {
  readonly #clock: Clock;
  readonly #resume: () => void;
  /** The end, on both clocks; null while there is no pause. */
  #end: { readonly at: number; readonly until: Timestamp } | null = null;
  #logged: Timestamp | undefined;
  #timer: Timer | undefined;

  /** `resume` is called at the end of a pause. */
  constructor(clock: Clock, resume: () => void) {
    this.#clock = clock;
    this.#resume = resume;
  }

  /** Until when no new attempt may begin; null without a pause. */
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
