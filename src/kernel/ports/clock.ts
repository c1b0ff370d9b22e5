import { timestamp, type Timestamp } from "../domain/time.ts";

/** A scheduled call that has not happened yet. */
export interface Timer {
  cancel(): void;
}

/** The only source of time, so that a simulation can control it. */
export interface Clock {
  /** Wall clock, milliseconds since 1970; may jump. */
  now(): number;
  /** Never goes back; milliseconds from an arbitrary start. For measuring, never for storing. */
  monotonic(): number;
  /** Calls `task` once after `delayMs`. A pending timer does not keep the process alive. */
  schedule(delayMs: number, task: () => void): Timer;
}

/** Waits that can be cut short, any number at a time. */
export class Pause {
  readonly #clock: Pick<Clock, "schedule">;
  readonly #ends = new Set<() => void>();

  constructor(clock: Pick<Clock, "schedule">) {
    this.#clock = clock;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#ends.delete(end);
        timer.cancel();
        resolve();
      };
      const timer = this.#clock.schedule(ms, end);
      this.#ends.add(end);
    });
  }

  end(): void {
    for (const end of this.#ends) end();
  }
}

/** Resolves after `ms`. */
export function sleep(clock: Pick<Clock, "schedule">, ms: number): Promise<void> {
  return new Promise((resolve) => clock.schedule(ms, resolve));
}

/** The wall clock's time, as facts tell it. */
export function timestampNow(clock: Pick<Clock, "now">): Timestamp {
  return timestamp(clock.now());
}

/** The result of {@link within} when the time is over first. */
export const late: unique symbol = Symbol("late");

/** The task's result, or {@link late} after `ms`. The task is not stopped; its result is dropped. */
export async function within<Result>(
  clock: Pick<Clock, "schedule">, ms: number, task: Promise<Result>,
): Promise<Result | typeof late> {
  const { promise: over, resolve } = Promise.withResolvers<typeof late>();
  const timer = clock.schedule(ms, () => resolve(late));
  try {
    return await Promise.race([task, over]);
  } finally {
    timer.cancel();
  }
}
