import type { Clock } from "./clock.ts";

/** Resolves after `ms`. */
export function sleep(clock: Pick<Clock, "schedule">, ms: number): Promise<void> {
  return new Promise((resolve) => clock.schedule(ms, resolve));
}
