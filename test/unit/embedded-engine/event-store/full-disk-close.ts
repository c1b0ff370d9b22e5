import { execFileSync } from "node:child_process";
import { openEmbeddedEventStore } from "../../../../packages/embedded-engine/src/event-store/embedded-event-store.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import { note } from "../../../contract/event-store/harness.ts";
import { plainCodec } from "../../../support/plain-codec.ts";

/**
 * Appends, lets no file of this process grow any more, and closes the store: the content of the write-ahead log does
 * not fit into the log's own file. Prints the store's fatal errors, and at the end "closed".
 */
const say = (text: string) => process.stdout.write(text);
const store = await openEmbeddedEventStore({
  dataDir: process.argv[2]!,
  codec: plainCodec,
  clock: new SystemClock(),
  onFatal: ({ message }) => say(`${message}; `),
});
// The store's housekeeping thread has started then.
await store.scrub();
for (let count = 0; count < 20; count += 1) {
  await store.append(`event-${count}`, noStream, [note("x".repeat(20_000))]);
}
execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=65536:unlimited"]);
await store.close();
say("closed");
