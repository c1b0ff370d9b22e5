import { readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";

/** The kernel counts CPU time in hundredths of a second. */
const ticksPerSecond = 100;

/** A moment in the machine's life: CPU seconds used by all, and by this process with its ended children. */
export interface MachineTime {
  readonly at: number;
  readonly all: number;
  readonly ours: number;
}

export function machineTime(): MachineTime {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] =
    readFileSync("/proc/stat", "utf8").split("\n", 1)[0]?.split(/\s+/).map(Number) ?? [];
  // The fields behind the parenthesised name; user, system, children's user, children's system are the 12th to 15th.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ").slice(11, 15).map(Number) ?? [];
  return {
    at: performance.now() / 1000,
    all: (user + nice + system + irq + softIrq) / ticksPerSecond,
    ours: fields.reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond,
  };
}

/** How many cores everyone else used since then, on average: what makes rates and latencies worth less. */
export function othersSince(before: MachineTime): number {
  const now = machineTime();
  return Math.max(0, (now.all - before.all - (now.ours - before.ours)) / (now.at - before.at));
}

/** What the figures were taken on. */
export function machine() {
  return { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism(), node: process.version };
}
