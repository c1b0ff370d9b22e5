import { randomUUID } from "node:crypto";
import { writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { openEmbeddedEventStore } from "../../../../packages/embedded-engine/src/event-store/embedded-event-store.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import { note } from "../../../contract/event-store/harness.ts";
import { plainCodec } from "../../../support/plain-codec.ts";
import { say } from "./say.ts";

/** Appends to the store in the given folder until it is killed, despite errors. Prints each stream that was written. */
const store = await openEmbeddedEventStore({
  dataDir: process.argv[2]!, codec: plainCodec, clock: new SystemClock(),
  tuning: { checkpointBytes: 100_000, restartBytes: 400_000 },
  onFatal: (error) => {
    writeSync(2, `${error.stack}\n`);
    process.exit(1);
  },
});

async function work(): Promise<never> {
  for (;;) {
    const stream = `event-${randomUUID()}`;
    const appended = await store.append(stream, noStream, [note("x".repeat(8_000))]).catch(() => null);
    if (appended) await say(stream);
    else await setTimeout(5);
  }
}

await Promise.all(Array.from({ length: 8 }, work));
