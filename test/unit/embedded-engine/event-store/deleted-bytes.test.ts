import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { EmbeddedEventStore } from "../../../../packages/embedded-engine/src/event-store/embedded-event-store.ts";
import { logPath } from "../../../../packages/embedded-engine/src/event-store/log-file.ts";
import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import { note, until } from "../../../contract/event-store/harness.ts";
import { openPlainStore, temporaryFolder } from "../../../support/embedded-store.ts";

/** Marks found in any file of the folder, by another process: closing a file here would drop SQLite's locks. */
function marksIn(folder: string): Set<string> {
  const found = execFileSync("sh", ["-c", `grep -rhaoE 'MARK[0-9]{6}!' "$0" | sort -u`, folder], { encoding: "utf8" });
  return new Set(found.split("\n").filter((line) => line !== ""));
}

/** Opens a reader that goes on seeing the log as it is now, with so many rows. Returns the function that ends it. */
function readerOf(folder: string, rows: number): () => void {
  const reader = new DatabaseSync(logPath(folder), { readOnly: true });
  reader.exec("BEGIN");
  expect(reader.prepare("SELECT count(*) AS rows FROM log").get()).to.include({ rows });
  return () => reader.close();
}

describe("deleted entries of the embedded event store", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let store: EmbeddedEventStore;
  let live: Map<string, string>;
  let marks = 0;

  beforeEach(() => {
    folder = temporaryFolder();
    live = new Map();
  });
  afterEach(async () => {
    await store.close();
    folder.remove();
  });

  const append = async () => {
    const mark = `MARK${String(++marks).padStart(6, "0")}!`;
    const stream = `event-${marks}`;
    // Mostly several entries to a page, some on many pages of their own.
    const repeated = mark.repeat(randomInt(10) === 0 ? randomInt(8000) + 1 : randomInt(120) + 1);
    await store.append(stream, noStream, [note(repeated), note(mark)]);
    live.set(stream, mark);
  };
  const deleteSome = (count: number) => {
    const streams = [...live.keys()];
    const chosen = new Set(Array.from({ length: count }, () => streams[randomInt(streams.length)]!));
    return Promise.all([...chosen].map((stream) => {
      live.delete(stream);
      return store.deleteStream(stream);
    }));
  };
  const crashedCopy = () => {
    const crashed = temporaryFolder();
    execFileSync("cp", ["-r", `${folder.path}/.`, crashed.path]);
    return crashed;
  };

  it("are gone from all of its files, and no other entry is", async () => {
    store = await openPlainStore(folder.path, { memtableRecords: 64, checkpointBytes: 200_000, scrubDelayMs: 60_000 });
    for (let round = 0; round < 40; round++) {
      await Promise.all(Array.from({ length: 200 }, append));
      await deleteSome(150);
    }
    await store.scrub();
    expect(marksIn(folder.path)).to.deep.equal(new Set(live.values()));
  });

  it("are erased automatically, under load too", async () => {
    store = await openPlainStore(folder.path, { scrubDelayMs: 5 });
    await Promise.all(Array.from({ length: 100 }, append));
    const doomed = [...live.values()];
    await Promise.all([deleteSome(100), ...Array.from({ length: 100 }, append)]);
    const kept = new Set(live.values());
    await until("the bytes are gone", async () => {
      await append();
      const found = marksIn(folder.path);
      return doomed.every((mark) => kept.has(mark) || !found.has(mark));
    });
  });

  it("are erased once a reader that still sees them has ended; commits go on meanwhile", async () => {
    store = await openPlainStore(folder.path, { scrubDelayMs: 60_000 });
    await Promise.all(Array.from({ length: 20 }, append));
    const endReading = readerOf(folder.path, 40);
    await deleteSome(10);
    let over = false;
    const scrubbed = store.scrub().then(() => (over = true));
    for (let more = 0; more < 50; more++) await append();
    expect(over).to.equal(false);
    endReading();
    await scrubbed;
    expect(marksIn(folder.path)).to.deep.equal(new Set(live.values()));
  });

  it("are erased at the latest when the store closes, or when it starts after a crash", async () => {
    store = await openPlainStore(folder.path, { scrubDelayMs: 60_000 });
    await Promise.all(Array.from({ length: 50 }, append));
    await deleteSome(30);
    const crashed = crashedCopy();
    expect(marksIn(crashed.path).size).to.be.above(live.size);
    const survivor = await openPlainStore(crashed.path);
    expect(marksIn(crashed.path)).to.deep.equal(new Set(live.values()));
    await survivor.close();
    crashed.remove();
    await store.close();
    expect(marksIn(folder.path)).to.deep.equal(new Set(live.values()));
  });

  it("are erased without a further deletion once a reader that was there at the start has ended", async () => {
    store = await openPlainStore(folder.path, { scrubDelayMs: 60_000 });
    await Promise.all(Array.from({ length: 20 }, append));
    await deleteSome(10);
    const crashed = crashedCopy();
    const endReading = readerOf(crashed.path, 40);
    const survivor = await openPlainStore(crashed.path);
    expect(marksIn(crashed.path).size).to.be.above(live.size);
    endReading();
    await until("the bytes are gone", () => marksIn(crashed.path).size === live.size);
    await survivor.close();
    crashed.remove();
  });
});
