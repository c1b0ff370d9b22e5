import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Time between two checks: an idle thread has given its memory back within a minute. */
const everyMs = 10_000;
/** A thread that allocated less since the last check is idle. A smaller young generation is not collected. */
const littleBytes = 2 * 1024 * 1024;

/**
 * From now on the calling thread collects its young generation whenever it is at rest: in such a collection V8 makes
 * the young generation smaller, and without one it never does. See docs/adr/0036.
 */
export function shrinkAtRest(intervalMs = everyMs): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as NodeJS.GCFunction;
  let before = youngGeneration().used;
  setInterval(() => {
    const { size, used } = youngGeneration();
    // Less is used than before if the thread was busy enough for V8 to collect by itself.
    const atRest = used >= before && used - before < littleBytes;
    if (atRest && size > littleBytes) collect({ type: "minor" });
    before = youngGeneration().used;
  }, intervalMs).unref();
}

/** Bytes in memory, and of these in use. */
function youngGeneration(): { readonly size: number; readonly used: number } {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
  return { size: space?.physical_space_size ?? 0, used: space?.space_used_size ?? 0 };
}
