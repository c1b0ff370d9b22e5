import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { Checkpoints } from "../../../../packages/embedded-engine/src/read-models/checkpoints.ts";
import { SqliteReadModels } from "../../../../packages/embedded-engine/src/read-models/sqlite-read-models.ts";
import type { Change } from "../../../../src/kernel/ports/read-models.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { withoutThreads } from "../../../support/no-threads.ts";
import { position } from "../../../support/position.ts";
import { eventually } from "../../../support/relay.ts";

describe("checkpoints of the read models' file", () => {
  const large = "x".repeat(100_000);
  let folder: string;
  let file: string;
  let database: DatabaseSync;
  let checkpoints: Checkpoints;
  let anomalies: unknown[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "checkpoints-"));
    file = join(folder, "test.db");
    database = new DatabaseSync(file);
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE texts (text TEXT)");
  });

  afterEach(async () => {
    await checkpoints.end();
    database.close();
    checkpoints.close();
    rmSync(folder, { recursive: true });
  });

  function open(limits: { piece: number; anew: number; tooMany: number }): void {
    anomalies = [];
    checkpoints = new Checkpoints(file, database, (error) => anomalies.push(error), limits);
  }

  function commit(): void {
    database.prepare("INSERT INTO texts VALUES (?)").run(large);
    checkpoints.committed();
  }

  const written = () => statSync(file).size;

  /** Pages of the write-ahead log that are not in the file yet. */
  function left(): number {
    const pages = database.prepare("PRAGMA wal_checkpoint(NOOP)").get() as { log: number; checkpointed: number };
    return pages.log - pages.checkpointed;
  }

  async function allMoved(): Promise<void> {
    while (left() > 0) {
      checkpoints.committed();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it("are not made while the write-ahead log is small", () => {
    open({ piece: 10_000, anew: 10_000, tooMany: 10_000 });
    const before = written();
    // More than the 1,000 pages at which SQLite would make a checkpoint.
    for (let n = 0; n < 50; n += 1) commit();
    expect(left()).to.be.above(1_000);
    expect(written()).to.equal(before);
  });

  it("are made in the background once the write-ahead log is large enough", async () => {
    open({ piece: 1, anew: 1_000_000, tooMany: 1_000_000 });
    for (let n = 0; n < 10; n += 1) commit();
    expect(left()).to.be.above(0);
    await allMoved();
    expect(written()).to.be.above(10 * large.length);
    // All pages are moved, so later commits are written from the log's beginning.
    const log = statSync(`${file}-wal`).size;
    for (let n = 0; n < 5; n += 1) commit();
    expect(statSync(`${file}-wal`).size).to.equal(log);
  });

  it("let the write-ahead log start from its beginning while commits go on", async () => {
    open({ piece: 50, anew: 100, tooMany: 1_000_000 });
    const log = () => database.prepare("PRAGMA wal_checkpoint(NOOP)").get()!["log"] as number;
    let begunAnew = false;
    for (let n = 0; n < 2_000 && !begunAnew; n += 1) {
      const before = log();
      commit();
      begunAnew = log() < before;
      await pause(1);
    }
    expect(begunAnew).to.equal(true);
  });

  it("begin once the system gives a thread", async () => {
    open({ piece: 1, anew: 1_000_000, tooMany: 1_000_000 });
    await withoutThreads(() => {
      for (let n = 0; n < 3; n += 1) commit();
    });
    expect(left()).to.be.above(0);
    commit();
    await allMoved();
  });

  it("report a thread that fails, and begin again with another", async () => {
    open({ piece: 1, anew: 1_000_000, tooMany: 1_000_000 });
    renameSync(file, `${file}.away`);
    mkdirSync(file);
    commit();
    while (anomalies.length < 2) {
      checkpoints.committed();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(String(anomalies[0])).to.match(/unable to open database file/);
    expect(left()).to.be.above(0);
    rmdirSync(file);
    renameSync(`${file}.away`, file);
    await allMoved();
    expect(written()).to.be.above(large.length);
  });

  it("are made at once when the write-ahead log is too large, so that it stays bounded", () => {
    open({ piece: 1_000_000, anew: 1_000_000, tooMany: 100 });
    for (let n = 0; n < 200; n += 1) commit();
    expect(statSync(`${file}-wal`).size).to.be.below(10 * large.length);
    expect(database.prepare("SELECT count(*) AS n FROM texts").get()?.["n"]).to.equal(200);
  });
});

describe("the write-ahead log of read models", () => {
  const notes = { name: "notes", key: "id", fields: { id: "id", text: "text" }, indexes: [] } as const;
  let folder: string;
  let models: SqliteReadModels;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "checkpoints-"));
  });
  afterEach(async () => {
    await models.close();
    rmSync(folder, { recursive: true });
  });

  const put = (): Change => {
    const id = randomUUID();
    return { op: "put", collection: "notes", key: id, document: { id, text: "x".repeat(1_000_000) } };
  };
  const ways = {
    "the log": (written: number) => {
      const at = position(written);
      return models.apply([{ position: at, changes: [put()] }], at);
    },
    "a purge": () => models.amend([put()]),
  };
  for (const [origin, write] of Object.entries(ways)) {
    it(`is moved while only ${origin} writes them`, async () => {
      const file = join(folder, "read-models.db");
      models = new SqliteReadModels(file, new ManualClock());
      await models.reset([notes], "any");
      for (let written = 1; written <= 20; written += 1) await write(written);
      await eventually(async () => statSync(file).size, (size) => size > 8_000_000, 5_000);
    });
  }
});
