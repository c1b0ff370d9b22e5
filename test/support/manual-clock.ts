import type { Clock, Timer } from "../../src/kernel/ports/clock.ts";

/** Time that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now = 1_700_000_000_000;
  readonly #timers = new Set<{ readonly due: number; readonly task: () => void }>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  schedule(delayMs: number, task: () => void): Timer {
    const timer = { due: this.#now + delayMs, task };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** The delays of the timers that are set, in ms, ascending. */
  get pending(): readonly number[] {
    return [...this.#timers].map(({ due }) => due - this.#now).sort((a, b) => a - b);
  }

  /** Lets time pass and runs the due timers. */
  advance(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers].sort((a, b) => a.due - b.due)) {
      if (timer.due <= this.#now && this.#timers.delete(timer)) timer.task();
    }
  }
}
