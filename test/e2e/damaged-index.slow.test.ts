import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import {
  blockRecords, segmentWords,
} from "../../packages/embedded-engine/src/event-store/stream-index/segment-format.ts";
import { hashStream } from "../../packages/embedded-engine/src/event-store/stream-index/stream-hash.ts";
import { text, type Json } from "../support/api-client.ts";
import { eventually, openAccount } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { fillLog } from "../support/relay-process-fill.ts";
import { sized } from "../support/size.ts";

describe("an index that is found damaged", function () {
  this.timeout(sized(60_000, 120_000));

  it("ends the relay with a line that reports it, and the next start rebuilds it", async () => {
    const relay = await RelayProcess.start(null);
    try {
      const account = await openAccount(relay.url);
      const { id: destinationId } = await account.destination({ url: "https://receiver.example/hook" });
      await account.owner.patch(`/api/v1/destinations/${destinationId}`, { status: "inactive" });
      const [key] = (await account.owner.get("/api/v1/api-keys"))["items"] as [{ id: string }];
      await relay.sigterm();
      // More events than fit in memory: the oldest are found through a file, which the next start writes.
      await fillLog(relay.dataDir, { tenantId: account.tenantId, destinationId, apiKeyId: key.id }, 140_000);
      await relay.start();
      await relay.sigterm();
      const { eventId, segment } = damageIndex(relay.dataDir);
      await relay.start();
      const read = () => relay.at(account.owner).get(`/api/v1/events/${eventId}`);
      expect(await read().catch(() => null), "the event whose place is lost").to.equal(null);
      await eventually(async () => relay.lives.at(-1)?.endedAt ?? null, (endedAt) => endedAt !== null);
      expect(relay.printed(/^an engine has failed; the relay must be started again: .+/)).to.include(segment);
      await relay.kill9();
      await relay.start();
      expect((await read())["id"]).to.equal(eventId);
    } finally {
      await relay.close();
    }
  });
});

/** Damages a part of the index with streams of events only. Returns one of these events, and the file. */
function damageIndex(dataDir: string): { readonly eventId: string; readonly segment: string } {
  const log = new DatabaseSync(join(dataDir, "log.db"), { readOnly: true });
  const [segment] = log.prepare("SELECT file FROM segments").all().map(({ file }) => String(file));
  const rowsOf = (which: string) => log.prepare(`SELECT stream, data FROM log WHERE ${which}`).all()
    .map(({ stream, data }) => ({ stream: String(stream), data: String(data) }));
  const [events, others] = [rowsOf("type = 'EventAccepted'"), rowsOf("stream NOT LIKE 'event-%'")];
  log.close();
  if (segment === undefined) throw new Error("the index is all in memory");
  const path = join(dataDir, "index", segment);
  const words = new Uint32Array(new Uint8Array(readFileSync(path)).buffer);
  const blocks = new Map<string, number>();
  for (let record = 0; (record + 1) * segmentWords <= words.length; record += 1) {
    const at = record * segmentWords;
    blocks.set(`${words[at]} ${words[at + 1]}`, Math.floor(record / blockRecords));
  }
  const blockOf = (stream: string) => {
    const { hi, lo } = hashStream(stream);
    return blocks.get(`${hi} ${lo}`);
  };
  const needed = new Set(others.map(({ stream }) => blockOf(stream)));
  const lost = events.find(({ stream }) => blockOf(stream) !== undefined && !needed.has(blockOf(stream)));
  if (!lost) throw new Error("every part of the index is needed to start");
  const file = openSync(path, "r+");
  writeSync(file, "spoilt", (blockOf(lost.stream) ?? 0) * blockRecords * segmentWords * 4);
  closeSync(file);
  return { eventId: text(JSON.parse(lost.data) as Json, "eventId"), segment };
}
