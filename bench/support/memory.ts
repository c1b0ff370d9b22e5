import { readFileSync } from "node:fs";

const mebibyte = 1024;

/**
 * Memory of a process and its descendants, MiB: the proportional set size, which counts a page that several processes
 * have by its share. Linux only.
 */
export function memoryOf(pid: number): number {
  const [, pss = "0"] = /^Pss: +(\d+) kB$/m.exec(textOf(`/proc/${pid}/smaps_rollup`)) ?? [];
  return childrenOf(pid).reduce((sum, child) => sum + memoryOf(child), Number(pss) / mebibyte);
}

/** Samples the memory while a load runs; resolves to the load's result and the largest sample. */
export async function peakDuring<Result>(pid: number, load: Promise<Result>): Promise<[Result, number]> {
  let peak = memoryOf(pid);
  const timer = setInterval(() => (peak = Math.max(peak, memoryOf(pid))), 250);
  try {
    return [await load, peak];
  } finally {
    clearInterval(timer);
  }
}

function childrenOf(pid: number): readonly number[] {
  return textOf(`/proc/${pid}/task/${pid}/children`).split(" ").filter((text) => text !== "").map(Number);
}

/** Empty where the process has ended between two looks. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
