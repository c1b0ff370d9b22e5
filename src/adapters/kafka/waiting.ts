import type { Clock } from "../../ports/clock.ts";

/** What `task` comes to, or a rejection after `patienceMs`; the task goes on then, and what it comes to is dropped. */
export async function within<T>(clock: Clock, patienceMs: number, what: string, task: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = clock.schedule(patienceMs, () => reject(new Error(`${what} took longer than ${patienceMs} ms`)));
  try {
    return await Promise.race([task, late]);
  } finally {
    timer.cancel();
    task.catch(() => undefined);
  }
}

/** Resolves when `task` is over in whatever way, after `patienceMs` at the latest. */
export async function settled(clock: Clock, patienceMs: number, task: Promise<unknown>): Promise<void> {
  await within(clock, patienceMs, "it", task).catch(() => undefined);
}
