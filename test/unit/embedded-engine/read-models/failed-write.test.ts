import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { SqliteReadModels } from "../../../../packages/embedded-engine/src/read-models/sqlite-read-models.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { ReadModelsUnavailable } from "../../../../src/kernel/ports/read-models.ts";

const notes = { name: "notes", key: "name", fields: { name: "text" }, indexes: [] } as const;
const counts = { name: "counts", key: "name", fields: { name: "text", numbers: "numbers" }, indexes: [] } as const;
const batch = [
  { position: "1", changes: [{ op: "put", collection: "notes", key: "a", document: { name: "a" } }] },
  { position: "2", changes: [{ op: "add", scope: "notes", bucket: 0, by: 1 }] },
] as const;

describe("read models in SQLite that fail", () => {
  let folder: string;
  let file: string;
  let models: SqliteReadModels;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "trouble-"));
    file = join(folder, "read-models.db");
  });

  afterEach(async () => {
    await models.close();
    rmSync(folder, { recursive: true });
  });

  const failureOf = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );

  it("are unavailable before they are built", async () => {
    models = new SqliteReadModels(file, new SystemClock());
    expect(await failureOf(models.get("notes", "a"))).to.be.instanceOf(ReadModelsUnavailable);
    expect(await failureOf(models.apply(batch, "2"))).to.be.instanceOf(ReadModelsUnavailable);
  });

  it("refuse a batch that cannot be written, keep nothing of it, and accept it later", async () => {
    models = new SqliteReadModels(file, new SystemClock());
    await models.reset([notes], "any");
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const failure = await failureOf(models.apply(batch, "2"));
    expect(failure).to.be.instanceOf(ReadModelsUnavailable).with.property("message", "database is locked");
    expect(await models.get("notes", "a")).to.equal(null);
    expect(await models.checkpoint()).to.equal("");
    other.exec("ROLLBACK");
    other.close();
    await models.apply(batch, "2");
    expect(await models.sum("notes")).to.equal(1);
    expect(await models.checkpoint()).to.equal("2");
  });

  it("refuse the whole batch where one document does not fit its collection", async () => {
    models = new SqliteReadModels(file, new SystemClock());
    await models.reset([notes], "any");
    const odd = { op: "put", collection: "notes", key: "b", document: { name: 7 } } as const;
    const spoiled = [...batch, { position: "3", changes: [odd] }];
    expect(await failureOf(models.apply(spoiled, "3"))).to.be.instanceOf(TypeError);
    expect(await models.get("notes", "a")).to.equal(null);
    await models.apply(batch, "2");
    expect(await models.sum("notes")).to.equal(1);
  });

  it("count a batch once that was refused after its tallies were added", async () => {
    models = new SqliteReadModels(file, new SystemClock());
    await models.reset([counts], "any");
    const rows = [{ key: "a", document: { name: "a" } }];
    const counted = { op: "tally", collection: "counts", field: "numbers", rows, names: ["z", "x"] } as const;
    await models.apply([{ position: "1", changes: [counted] }], "1");
    const odd = { op: "put", collection: "counts", key: "b", document: { name: 7 } } as const;
    const spoiled = [{ position: "2", changes: [counted, odd] }];
    expect(await failureOf(models.apply(spoiled, "2"))).to.be.instanceOf(TypeError);
    await models.apply([{ position: "2", changes: [counted] }], "2");
    expect(await models.get("counts", "a")).to.deep.equal({ name: "a", numbers: { x: 2, z: 2 } });
  });

  it("are rebuilt in a new file where theirs is damaged", async () => {
    writeFileSync(file, "this was a database once ".repeat(1_000));
    models = new SqliteReadModels(file, new SystemClock());
    expect(await models.state()).to.equal(null);
    await models.reset([notes], "any");
    await models.apply(batch, "2");
    expect(await models.get("notes", "a")).to.deep.equal({ name: "a" });
  });
});
