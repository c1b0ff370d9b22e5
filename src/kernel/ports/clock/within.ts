import type { Clock } from "./clock.ts";

/** The result of {@link within} when the time is over first. */
export const late: unique symbol = Symbol("late");

/** The task's result, or {@link late} after `ms`. The task is not stopped; its result is dropped. */
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
