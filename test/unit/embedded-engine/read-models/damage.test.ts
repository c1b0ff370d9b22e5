import {
  closeSync, copyFileSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { openDatabase } from "../../../../packages/embedded-engine/src/read-models/database.ts";
import { SqliteReadModels } from "../../../../packages/embedded-engine/src/read-models/sqlite-read-models.ts";
import { logStart } from "../../../../src/kernel/ports/event-store.ts";
import {
  ReadModelsUnavailable, type Change, type CollectionDefinition,
} from "../../../../src/kernel/ports/read-models.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { position } from "../../../support/position.ts";

const notes: CollectionDefinition = {
  name: "notes", key: "name", fields: { name: "text", more: "json" }, indexes: [["more", "name"]],
};
const pageSize = 4_096;

describe("damaged read models in SQLite", () => {
  let folder: string;
  let file: string;
  let whole: string;
  let models: SqliteReadModels | undefined;
  let damages: unknown[];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "damage-"));
    [file, whole] = [join(folder, "read-models.db"), join(folder, "whole.db")];
    const filled = new SqliteReadModels(whole, new ManualClock());
    await filled.reset([notes], "whole");
    const changes = [...Array.from({ length: 200 }, (_, n) => put(n)), counted];
    await filled.apply([{ position: position(1), changes }], position(1));
    await filled.close();
  });
  beforeEach(() => copyFileSync(whole, file));
  afterEach(() => close());
  after(() => rmSync(folder, { recursive: true }));

  const nameOf = (n: number) => `note ${n} `.padEnd(300, "x");
  const put = (n: number): Change => ({
    op: "put", collection: "notes", key: nameOf(n), document: { name: nameOf(n), more: { n } },
  });
  const counted = { op: "add", scope: "notes", bucket: 0, by: 1 } as const;

  function open(): SqliteReadModels {
    damages = [];
    models = new SqliteReadModels(file, new ManualClock());
    models.onDamage((error) => damages.push(error));
    return models;
  }

  async function close(): Promise<void> {
    await models?.close();
    models = undefined;
  }

  function damage(page: number): void {
    const descriptor = openSync(file, "r+");
    writeSync(descriptor, Buffer.alloc(pageSize, 0x5a), 0, pageSize, (page - 1) * pageSize);
    closeSync(descriptor);
  }

  function inFile<Result>(action: (database: DatabaseSync) => Result): Result {
    const database = new DatabaseSync(file);
    try {
      return action(database);
    } finally {
      database.close();
    }
  }

  const rootOf = (table: string) =>
    inFile((database) => database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)!["rootpage"]);

  const failureOf = (promise: Promise<unknown>) => promise.then(() => undefined, (error: unknown) => error);

  async function expectNone(): Promise<void> {
    expect(await models!.state()).to.equal(null);
    expect(await models!.checkpoint()).to.equal(logStart);
    expect(await models!.settle("whole")).to.equal(false);
    expect(await failureOf(models!.sum("notes"))).to.be.instanceOf(ReadModelsUnavailable);
    expect(await failureOf(models!.apply([], position(3)))).to.be.instanceOf(ReadModelsUnavailable);
  }

  async function expectBuiltAgain(): Promise<void> {
    await models!.reset([notes], "again");
    await models!.apply([{ position: position(1), changes: [put(7), counted] }], position(1));
    expect(await models!.get("notes", nameOf(7))).to.deep.equal({ name: nameOf(7), more: { n: 7 } });
    expect(await models!.sum("notes")).to.equal(1);
    expect(inFile((database) => database.prepare("PRAGMA integrity_check").all())).to.deep.equal([
      { integrity_check: "ok" },
    ]);
  }

  it("are rebuilt after damage to any page", async () => {
    const pages = statSync(whole).size / pageSize;
    expect(pages).to.be.greaterThan(30);
    for (let page = 1; page <= pages; page += 1) {
      copyFileSync(whole, file);
      damage(page);
      open();
      await expectBuiltAgain();
      await close();
    }
  });

  it("become unavailable once a query meets the damage", async () => {
    damage(Number(rootOf("c_notes")));
    open();
    expect(await models!.sum("notes")).to.equal(1);
    expect(await failureOf(models!.get("notes", nameOf(1)))).to.be.instanceOf(ReadModelsUnavailable);
    await failureOf(models!.get("notes", nameOf(1)));
    expect(damages.length).to.equal(1);
    await expectNone();
    await expectBuiltAgain();
    damages = [];
    expect(await models!.get("notes", nameOf(1))).to.equal(null);
    expect(damages).to.deep.equal([]);
  });

  it("become unavailable once a query meets a document that cannot be parsed", async () => {
    inFile((database) => database.exec("UPDATE c_notes SET more = '{'"));
    open();
    expect(await failureOf(models!.get("notes", nameOf(1)))).to.be.instanceOf(ReadModelsUnavailable);
    expect(damages).to.have.length(1);
  });

  it("are only locked where another connection has the file exclusively, and stay", async () => {
    const other = new DatabaseSync(file);
    other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    try {
      expect(() => openDatabase(file, (error) => damages.push(error))).to.throw("database is locked");
    } finally {
      other.close();
    }
    expect(await open().get("notes", nameOf(1))).to.deep.include({ more: { n: 1 } });
  });

  it("become unavailable once a write meets the damage", async () => {
    damage(Number(rootOf("c_notes")));
    open();
    const failure = await failureOf(models!.apply([{ position: position(3), changes: [put(1)] }], position(3)));
    expect(failure).to.be.instanceOf(ReadModelsUnavailable);
    expect(damages.length).to.equal(1);
    await expectNone();
    await expectBuiltAgain();
  });

  it("become unavailable once a query meets the damage in the middle of a write, which ends", async () => {
    damage(Number(rootOf("c_notes")));
    open();
    const changes = Array.from({ length: 1_000 }, (_, bucket) => ({ ...counted, bucket }));
    const applying = models!.apply([{ position: position(3), changes }], position(3));
    await new Promise((resolve) => setImmediate(resolve));
    await failureOf(models!.get("notes", nameOf(1)));
    await applying;
    await expectNone();
    await expectBuiltAgain();
  });

  it("become unavailable at the start where the start reads the damage", async () => {
    for (const spoil of [
      () => damage(Number(rootOf("state"))),
      () => damage(Number(rootOf("scrubs"))),
      () => inFile((database) => database.exec("UPDATE state SET definitions = '[{'")),
    ]) {
      copyFileSync(whole, file);
      spoil();
      open();
      expect(damages).to.have.length(1);
      await expectNone();
      await expectBuiltAgain();
      await close();
    }
  });

  it("are rebuilt once their folder can be written to again", async () => {
    open();
    const away = `${folder} away`;
    renameSync(folder, away);
    expect(await failureOf(models!.reset([notes], "again"))).to.be.instanceOf(ReadModelsUnavailable);
    await expectNone();
    renameSync(away, folder);
    await expectBuiltAgain();
  });

  it("are detected where an index names a missing document", async () => {
    const bytes = readFileSync(file);
    const entry = '{"n":0}note ';
    bytes.write("_", bytes.indexOf(entry) + entry.length);
    writeFileSync(file, bytes);
    const order = { field: "name", descending: false };
    const query = { collection: "notes", where: { more: { n: 0 } }, order, limit: 1 };
    expect(await failureOf(open().find(query))).to.be.instanceOf(ReadModelsUnavailable);
    expect(damages.map(String)).to.deep.equal(["ReadModelsUnavailable: an index names a document that is not there"]);
    await expectNone();
    await expectBuiltAgain();
  });
});
