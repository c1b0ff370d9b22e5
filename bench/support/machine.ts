import { readFileSync, realpathSync, statSync } from "node:fs";
import { availableParallelism, cpus, release, tmpdir, totalmem } from "node:os";
import { basename } from "node:path";

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

/** How many cores other processes used since then, on average. Their load distorts rates and latencies. */
export function othersSince(before: MachineTime): number {
  const now = machineTime();
  return Math.max(0, (now.all - before.all - (now.ours - before.ours)) / (now.at - before.at));
}

/** The machine that figures were taken on. */
export type Machine = ReturnType<typeof machine>;

export function machine() {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    disk: diskOf(tmpdir()),
    kernel: release(),
    node: process.version,
  };
}

/** Name and kind of the disk a folder is on. */
function diskOf(folder: string): string {
  const { dev } = statSync(folder);
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
  try {
    const device = realpathSync(`/sys/dev/block/${major}:${minor}`);
    if (device.includes("/virtio")) return `${basename(device)} (virtual)`;
    const rotates = readFileSync(`${device}/queue/rotational`, "utf8").trim() === "1";
    return `${basename(device)} (${rotates ? "rotating" : "solid state"})`;
  } catch {
    // A file system in memory or of a container has none, and a partition does not say.
    return "unknown";
  }
}
