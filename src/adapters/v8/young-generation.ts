import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Rare enough to cost nothing, often enough for a thread at rest to have let go within a minute. */
const everyMs = 10_000;

/**
 * From now on the calling thread collects its young generation every ten seconds: in such a collection V8 makes the
 * young generation smaller if little was allocated before it, and otherwise never. See docs/adr/0036.
 */
export function collectYoungGeneration(intervalMs = everyMs): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as NodeJS.GCFunction;
  setInterval(() => collect({ type: "minor" }), intervalMs).unref();
}
