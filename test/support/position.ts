import { logStart, type Position } from "../../src/kernel/ports/event-store.ts";

/** The place of the n-th entry of a log in memory; of 0, before all. */
export function position(n: number): Position {
  return n === 0 ? logStart : String(n).padStart(16, "0");
}
