import { closeSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { expect } from "chai";
import { CommitEngine, type Write } from "../../../../packages/embedded-engine/src/event-store/commit-engine.ts";
import { LogFile, logPath } from "../../../../packages/embedded-engine/src/event-store/log-file.ts";
import { IndexFolder } from "../../../../packages/embedded-engine/src/event-store/stream-index/index-folder.ts";
import { SegmentDamaged } from "../../../../packages/embedded-engine/src/event-store/stream-index/segment-format.ts";
import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";

describe("the commit engine", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let log: LogFile;
  let folderOfIndex: IndexFolder;
  let engine: CommitEngine;

  beforeEach(() => {
    folder = temporaryFolder();
    log = new LogFile(logPath(folder.path));
    folderOfIndex = new IndexFolder(folder.path);
    engine = new CommitEngine(log, folderOfIndex.open(log, 10), (damage) => { throw damage; });
  });
  afterEach(() => {
    log.close();
    folder.remove();
  });

  /** An append of entries of these ids to a new stream. */
  const append = (stream: string, ...ids: string[]): Write => {
    const texts = ids.flatMap((id) => [id, "Noted", "{}", "{}"]);
    return { kind: "append", batch: 1, streams: [stream], expected: [noStream], counts: [ids.length], texts };
  };

  const deletionOf = (stream: string): Write =>
    ({ kind: "delete", request: 1, stream, expected: null, forGood: false });

  it("keeps and counts nothing of a commit that failed", () => {
    engine.commit([append("a-1", "1")]);
    const { counts } = engine;
    const insert = log.insert.bind(log);
    log.insert = (...row) => {
      if (row[3] === "3") throw new Error("disk I/O error");
      insert(...row);
    };
    const failed = [{ failed: "disk I/O error" }, { failed: "disk I/O error" }];
    expect(engine.commit([deletionOf("a-1"), append("b-1", "2", "3")])).to.deep.equal(failed);
    expect(engine.counts).to.deep.equal(counts);
    expect(engine.head).to.equal(1);
    const read = { request: 1, from: 0, limit: 1, backwards: false };
    expect(engine.read({ stream: "a-1", ...read }).sequences).to.deep.equal([1]);
    log.insert = insert;
    expect(engine.commit([append("b-1", "2", "3")])).to.deep.equal([{ first: 2, last: 3, exceptions: [] }]);
  });

  it("estimates the bytes in the write-ahead log: the entries written or emptied, and a page for each commit", () => {
    const data = "x".repeat(100_000);
    const large: Write = {
      kind: "append", batch: 1, streams: ["a-1"], expected: [noStream], counts: [1], texts: ["1", "Noted", "{}", data],
    };
    const bytes = [large, deletionOf("a-1")].map((write) => {
      const before = engine.counts.bytes;
      engine.commit([write]);
      return engine.counts.bytes - before;
    });
    expect(bytes).to.deep.equal([108_194, 108_194]);
  });

  it("reports a damaged segment that a read meets", () => {
    const rows = Array.from({ length: 10 }, (_, at) => at);
    log.transaction(() => {
      for (const at of rows) log.insert(at + 1, `a-${at}`, 0, String(at), "Noted", "{}", "{}");
    });
    const index = folderOfIndex.open(log, rows.length);
    const told: SegmentDamaged[] = [];
    engine = new CommitEngine(log, index, (damage) => told.push(damage));
    truncateSync(index.segments[0]!.path, 8);
    expect(() => engine.read({ request: 1, stream: "a-1", from: 0, limit: 1, backwards: false }))
      .to.throw(SegmentDamaged);
    expect(told).to.have.length(1);
    index.segments[0]!.close();
  });

  it("refuses only the writes that need a damaged page of the log", () => {
    const id = "x".repeat(1_000);
    for (let at = 0; at < 100; at++) engine.commit([append(`a-${at}`, id)]);
    const reopened = () => {
      log = new LogFile(logPath(folder.path));
      return folderOfIndex.open(log, 10);
    };
    log.close();
    for (const segment of reopened().segments) segment.close();
    log.truncate(0);
    log.close();
    const damaged = damageOnePage(logPath(folder.path));
    const index = reopened();
    engine = new CommitEngine(log, index, (damage) => { throw damage; });
    const failed = "database disk image is malformed";
    expect(engine.commit([
      append(damaged, id), append("b-1", id), append("a-0", "another"), deletionOf(damaged), deletionOf("a-0"),
    ])).to.deep.equal([
      { first: 101, last: 100, exceptions: [{ at: 0, failed }] },
      { first: 101, last: 101, exceptions: [] },
      { first: 102, last: 101, exceptions: [{ at: 0, conflict: 0 }] },
      { failed },
      { first: 102, last: 101, exceptions: [] },
    ]);
    const rows = (stream: string) =>
      engine.read({ request: 1, stream, from: 0, limit: 1, backwards: false }).sequences;
    expect([rows("b-1"), rows("a-0"), rows("a-1")]).to.deep.equal([[101], [], [2]]);
    for (const segment of index.segments) segment.close();
  });

  it("fails pings after a failed commit until a ping could write to the log; later pings write nothing", () => {
    const transaction = log.transaction.bind(log);
    let transactions = 0;
    log.transaction = () => {
      transactions += 1;
      throw new Error("disk I/O error");
    };
    expect(engine.commit([append("a-1", "1")])).to.deep.equal([{ failed: "disk I/O error" }]);
    expect(() => engine.ping()).to.throw("disk I/O error");
    log.transaction = (work) => {
      transactions += 1;
      return transaction(work);
    };
    engine.ping();
    expect(transactions).to.equal(3);
    engine.ping();
    expect(transactions).to.equal(3);
  });
});

/** Damages the header of one page in the middle of a database; returns a stream that is on it. */
function damageOnePage(path: string): string {
  const pageBytes = 8192;
  const file = readFileSync(path);
  const leaf = 0x0d;
  const pages = Array.from({ length: file.length / pageBytes }, (_, at) => at);
  const leaves = pages.filter((at) => file[at * pageBytes] === leaf);
  const page = leaves[Math.floor(leaves.length / 2)]!;
  const [stream] = /a-\d+/.exec(file.toString("latin1", page * pageBytes, (page + 1) * pageBytes))!;
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, Buffer.of(leaf - 1), 0, 1, page * pageBytes);
  closeSync(descriptor);
  return stream;
}
