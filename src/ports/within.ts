import type { Clock } from "./clock.ts";

/** What {@link within} comes to when the time is over first. */
export const late: unique symbol = Symbol("late");

/** What a task comes to, or {@link late} after `ms`: it goes on then, and what it comes to is dropped. */
export async function within<Outcome>(
  clock: Pick<Clock, "schedule">, ms: number, task: Promise<Outcome>,
): Promise<Outcome | typeof late> {
  const { promise: over, resolve } = Promise.withResolvers<typeof late>();
  const timer = clock.schedule(ms, () => resolve(late));
  try {
    return await Promise.race([task, over]);
  } finally {
    timer.cancel();
  }
}
