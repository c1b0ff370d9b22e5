import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedEventStore } from "../../packages/embedded-engine/src/index.ts";
import { JsonEventCodec } from "../../src/engines/event-codec/event-codec.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import { SystemIds } from "../../src/engines/system/system-ids.ts";
import { decide } from "../../src/features/events/decide.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { entriesOf } from "../../src/kernel/log/origin.ts";
import { noStream } from "../../src/kernel/ports/event-store.ts";
import { serve } from "../support/child.ts";
import { machineNow } from "../support/clock.ts";
import { bodyTemplate } from "../support/payload.ts";

/** The store's throughput with a number of concurrent producers. */
export interface CommitResult {
  readonly appends: number;
  readonly rate: number;
  readonly appendsPerCommit: number;
}

export type CommitsApi = {
  /** Appends accepted events of 1 KB, `concurrency` at a time, to a store of its own. */
  run(load: {
    readonly grouped: boolean;
    readonly concurrency: number;
    readonly durationMs: number;
  }): Promise<CommitResult>;
};

const clock = new SystemClock();
const ids = new SystemIds();
const codec = new JsonEventCodec();
const payload = bodyTemplate().toString();
/** One append in a message and one message under way: every append gets a commit of its own. */
const ungrouped = { batchAppends: 1, batchesInFlight: 1, commitDelayMs: 0 };

const api: CommitsApi = {
  async run({ grouped, concurrency, durationMs }) {
    const dataDir = mkdtempSync(join(tmpdir(), "relay-bench-store-"));
    const store = await openEmbeddedEventStore({ dataDir, clock, codec, ...(grouped ? {} : { tuning: ungrouped }) });
    const [tenantId, destinationId, apiKeyId] = [ids.uuid(), ids.uuid(), ids.uuid()];
    const end = machineNow() + durationMs;
    const start = machineNow();
    let appends = 0;
    const producer = async () => {
      while (machineNow() < end) {
        const eventId = ids.uuid();
        const event = {
          eventId, tenantId, destinationId, apiKeyId, senderId: null, senderRevision: null,
          idempotencyKey: eventId, payload, original: null,
        };
        const facts = decide(undefined, { type: "Accept", event, at: timestamp(clock.now()) });
        const origin = { actor: { type: "apiKey", id: apiKeyId } as const, correlationId: eventId, causationId: null };
        await store.append(streams.event(eventId), noStream, entriesOf(facts, origin, ids));
        appends += 1;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, producer));
    const rate = (appends / (machineNow() - start)) * 1000;
    const { commits } = await store.stats();
    await store.close();
    rmSync(dataDir, { recursive: true });
    return { appends, rate, appendsPerCommit: appends / commits };
  },
};

serve(api);
