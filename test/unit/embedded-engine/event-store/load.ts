import { randomUUID } from "node:crypto";
import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import { note } from "../../../contract/event-store/harness.ts";
import { openPlainStore } from "../../../support/embedded-store.ts";
import { say } from "./say.ts";

/**
 * Appends to the store in the given folder until it is killed: streams of appends of three entries, now and then
 * deleted and begun again. Prints a line for every answer: `appended <stream> <revision> <position>`, or
 * `deleted <stream> <revision>`, before the next request for that stream.
 */
const store = await openPlainStore(process.argv[2]!, {
  memtableRecords: 200, mergeFanout: 2, checkpointBytes: 100_000, scrubDelayMs: 5,
});

async function work(): Promise<never> {
  for (;;) {
    const stream = `event-${randomUUID()}`;
    let revision = noStream;
    for (let append = 0; append < 4; append++) {
      const entries = ["x", "y", "z"].map((text) => note(text.repeat(200)));
      const appended = await store.append(stream, revision, entries);
      revision = appended.revision;
      await say("appended", stream, revision, appended.position);
      if (append === 2 && stream.endsWith("0")) {
        await say("deleting", stream, revision);
        await store.deleteStream(stream);
        await say("deleted", stream, revision);
        revision = noStream;
      }
    }
  }
}

await Promise.all(Array.from({ length: 16 }, work));
