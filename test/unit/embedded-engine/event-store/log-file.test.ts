import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { LogFile, logPath } from "../../../../packages/embedded-engine/src/event-store/log-file.ts";
import { formatOf, marking } from "../../../../packages/embedded-engine/src/sqlite/file-format.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";

describe("the log's file", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let log: LogFile;
  let outside: DatabaseSync;

  beforeEach(() => {
    folder = temporaryFolder();
    log = new LogFile(logPath(folder.path));
    outside = new DatabaseSync(logPath(folder.path));
  });
  afterEach(() => {
    outside.close();
    log.close();
    folder.remove();
  });

  it("makes commits wait where a tool holds a lock, but not truncation: commits would wait behind it", () => {
    log.transaction(() => log.insert(1, "a-1", 0, "1", "Noted", "{}", "{}"));
    outside.exec("BEGIN IMMEDIATE");
    const time = (action: () => unknown) => {
      const begin = performance.now();
      action();
      return performance.now() - begin;
    };
    const emptying = () => time(() => expect(log.truncate(0)).to.equal(false));
    // The least of three: the machine may be busy with something else.
    expect(Math.min(emptying(), emptying(), emptying())).to.be.below(500);
    const committing = time(() => expect(() => log.transaction(() => undefined)).to.throw("database is locked"));
    expect(committing).to.be.above(900);
  });

  it("is not opened in another format version, and keeps that version", () => {
    const newer = { version: 3, release: "0.8.0" };
    outside.exec(marking(newer));
    expect(() => new LogFile(logPath(folder.path))).to.throw(
      `${logPath(folder.path)}: is of version 3, which needs release 0.8.0 or later; this one reads 2`,
    );
    expect(formatOf(logPath(folder.path))).to.deep.equal(newer);
  });

  it("starts its write-ahead log from the beginning once all of it was moved", () => {
    const sizes: number[] = [];
    for (let sequence = 1; sequence <= 3; sequence++) {
      log.transaction(() => log.insert(sequence, "a-1", sequence, "1", "Noted", "{}", "x".repeat(500_000)));
      log.checkpoint();
      sizes.push(statSync(`${logPath(folder.path)}-wal`).size);
    }
    expect(Math.max(...sizes)).to.be.below(1_000_000);
    expect(statSync(logPath(folder.path)).size).to.be.above(1_500_000);
  });
});
