import type { Clock } from "../../kernel/ports/clock/clock.ts";
import { late, within } from "../../kernel/ports/clock/within.ts";

/** The task's result; rejects after `patienceMs`. */
export async function inTime<T>(clock: Clock, patienceMs: number, what: string, task: Promise<T>): Promise<T> {
  const outcome = await within(clock, patienceMs, task);
  if (outcome === late) throw new Error(`${what} took longer than ${patienceMs} ms`);
  return outcome;
}
