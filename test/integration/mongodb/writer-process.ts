import { once } from "node:events";
import { ReadModelsTakenOver } from "../../../src/kernel/ports/read-models.ts";
import { paused, pausedEnd } from "./interrupted.ts";
import { openProcess } from "./support.ts";

/**
 * A process that takes over the read models of the database whose URL is its argument, and reports that. At the next
 * message it tries a batch until that is applied or another writer has taken over, and reports the outcome.
 */
const { writer, close } = openProcess(process.argv[2] ?? "");
await writer.state();
process.send?.("ready");
await once(process, "message");
for (let outcome: string | undefined; outcome === undefined;) {
  outcome = await writer.apply(paused, pausedEnd).then(
    () => "applied",
    (error: unknown) => (error instanceof ReadModelsTakenOver ? error.name : undefined),
  );
  process.send?.(outcome ?? "failed");
}
await close();
process.disconnect();
