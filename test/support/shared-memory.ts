import { MemoryBudget } from "../../src/http/memory/memory-budget.ts";
import type { SharedMemory } from "../../src/http/memory/request-memory.ts";
import type { Clock } from "../../src/kernel/ports/clock.ts";
import { ManualClock } from "./manual-clock.ts";

/** So much memory for bodies and answers that no request waits for it, unless less is given. */
export function ampleMemory(
  clock: Pick<Clock, "schedule"> = new ManualClock(), { tenants = 64e6, networks = 16e6 } = {},
): SharedMemory {
  return { tenants: new MemoryBudget(clock, tenants), networks: new MemoryBudget(clock, networks) };
}
