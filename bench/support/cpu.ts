import { readdirSync, readFileSync } from "node:fs";

/** CPU time of a process, ms, by thread name; threads of one name together. */
export type CpuTime = ReadonlyMap<string, number>;

/** The CPU time that the process and its threads have used so far. Linux only. */
export function cpuOf(pid: number): CpuTime {
  const times = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const name = readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim();
      const [onCpu = "0"] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
      times.set(name, (times.get(name) ?? 0) + Number(onCpu) / 1e6);
    } catch {
      // The thread ended between the two looks.
    }
  }
  return times;
}

/** How much more each thread has used since `before`. */
export function cpuSince(pid: number, before: CpuTime): CpuTime {
  return new Map([...cpuOf(pid)].map(([name, time]) => [name, time - (before.get(name) ?? 0)]));
}

/** How long the main thread of a process has had something to do and no core to do it on so far, ms. Linux only. */
export function waitedForCore(pid: number): number {
  const [, waited = "0"] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return Number(waited) / 1e6;
}

/** All threads together, ms. */
export function total(cpu: CpuTime): number {
  return [...cpu.values()].reduce((sum, time) => sum + time, 0);
}

/** `name 12.3, …` in microseconds per item, the largest first, without negligible ones. */
export function perItem(cpu: CpuTime, items: number): string {
  return [...cpu]
    .map(([name, time]) => [name, (time / items) * 1000] as const)
    .filter(([, time]) => time >= 0.5)
    .sort(([, a], [, b]) => b - a)
    .map(([name, time]) => `${name} ${time.toFixed(1)}`)
    .join(", ");
}
