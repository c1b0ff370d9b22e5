import { millis, timestamp, type Timestamp } from "../../domain/time.ts";
import type { Clock, Timer } from "../../ports/clock/clock.ts";

/**
 * The pause that a destination's receiver asked for by 429, as its lane knows it. The log has it, too, for later
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

  /** Until when no new attempt may begin; null where one may. */
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

  /** Follows the log, which tells of pauses that others were asked for, and of one that a person ended. */
  follow(pausedUntil: Timestamp | undefined): void {
    if (pausedUntil === this.#logged) return;
    const before = this.#logged;
    this.#logged = pausedUntil;
    const now = this.#clock.now();
    if (pausedUntil === undefined) {
      // One that is over is dropped from the log; one that is not was ended.
      if (before !== undefined && millis(before) > now) {
        this.#end = null;
        this.unwatch();
      }
    } else if (pausedUntil !== this.#end?.until) this.ask(millis(pausedUntil) - now);
  }

  /** The end of the pause calls nobody. */
  unwatch(): void {
    this.#timer?.cancel();
  }
}
