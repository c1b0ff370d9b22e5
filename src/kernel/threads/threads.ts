import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Worker } from "node:worker_threads";

/** Tells a thread to end; resolves when it has ended. */
export async function endThread(thread: Worker, message: unknown): Promise<void> {
  if (thread.threadId === -1) return;
  const ended = new Promise((resolve) => thread.once("exit", resolve));
  thread.postMessage(message);
  await ended;
}

/** The interval of checks: an idle thread returns its memory within a minute. */
const everyMs = 10_000;
/** An idle thread allocated less since the last check. A smaller generation is not collected. */
const littleBytes = 2 * 1024 * 1024;

/** Collects the thread's young generation whenever it is idle: V8 shrinks it only in a collection (docs/adr/0036). */
export function shrinkAtRest(intervalMs = everyMs): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as NodeJS.GCFunction;
  let before = youngGeneration().used;
  setInterval(() => {
    const { size, used } = youngGeneration();
    const atRest = used >= before && used - before < littleBytes;
    if (atRest && size > littleBytes) collect({ type: "minor" });
    before = youngGeneration().used;
  }, intervalMs).unref();
}

function youngGeneration(): { readonly size: number; readonly used: number } {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
  return { size: space?.physical_space_size ?? 0, used: space?.space_used_size ?? 0 };
}
