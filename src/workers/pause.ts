import type { Clock } from "../ports/clock.ts";

/** A wait that can be cut short. */
export class Pause {
  readonly #clock: Clock;
  #end: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after `ms`, or at {@link end}. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.schedule(ms, () => this.#end?.());
      this.#end = () => {
        this.#end = undefined;
        timer.cancel();
        resolve();
      };
    });
  }

  /** Ends the wait under way, if there is one. */
  end(): void {
    this.#end?.();
  }
}
