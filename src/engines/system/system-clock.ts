import type { Clock, Timer } from "../../kernel/ports/clock.ts";

/** Node's timers fire at once for a longer delay. */
const longestMs = 2_147_483_647;

/** The machine's own time. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  schedule(delayMs: number, task: () => void): Timer {
    const due = performance.now() + delayMs;
    const wait = (ms: number) => setTimeout(check, Math.min(Math.ceil(ms), longestMs)).unref();
    const check = () => {
      // Node's timers may be early by one millisecond.
      const left = due - performance.now();
      if (left > 0) timer = wait(left);
      else task();
    };
    let timer = wait(delayMs);
    return { cancel: () => clearTimeout(timer) };
  }
}
