import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { FairMemoryBudget } from "../engines/memory-budget/fair-memory-budget.ts";
import type { SharedMemory } from "../http/memory/request-memory.ts";
import type { Clock } from "../kernel/ports/clock/clock.ts";

/**
 * The part of the process's memory that bodies and answers may take, up to a size beyond which more memory brings no
 * gain.
 */
const share = 1 / 16;
const mostBytes = 32 * 1024 * 1024;

/**
 * The memory that bodies and answers share. `limitBytes`: the memory that the process may use. Half of the shared part
 * goes to large ones of tenants, an eighth to large ones of clients that are not signed in; the rest is for small ones
 * and waiting ones.
 */
export function sharedMemory(clock: Clock, limitBytes = memoryLimit()): SharedMemory {
  const bytes = Math.min(limitBytes * share, mostBytes);
  return { tenants: new FairMemoryBudget(clock, bytes / 2), networks: new FairMemoryBudget(clock, bytes / 8) };
}

/** The lowest limit of the control group, the machine and the heap, bytes. */
function memoryLimit(): number {
  // 0 without a known control group.
  return Math.min(process.constrainedMemory() || Infinity, totalmem(), getHeapStatistics().heap_size_limit);
}
