import { execFileSync } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { SqliteReadModels } from "../../../../packages/embedded-engine/src/read-models/sqlite-read-models.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import type { Change, CollectionDefinition } from "../../../../src/kernel/ports/read-models.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { position } from "../../../support/position.ts";
import { eventually } from "../../../support/relay.ts";

/** Marks found in any file of the folder, by another process: closing a file here would drop SQLite's locks. */
function marksIn(folder: string): Set<string> {
  const found = execFileSync("sh", ["-c", `grep -rhaoE 'MARK[0-9]{6}!' "$0" | sort -u`, folder], { encoding: "utf8" });
  return new Set(found.split("\n").filter((line) => line !== ""));
}

const people: CollectionDefinition = {
  name: "people",
  key: "id",
  personal: true,
  fields: { id: "id", group: "number", email: "text", note: "text" },
  indexes: [["group", "email"], ["email"]],
};

describe("secure erase of values removed from personal read models", () => {
  let folder: string;
  let models: SqliteReadModels;
  let live: Map<string, string>;
  let written = 0;
  let marks = 0;
  const open = () => (models = new SqliteReadModels(join(folder, "read-models.db"), new SystemClock()));
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "scrubs-"));
    live = new Map();
    await open().reset([people], "1");
  });
  afterEach(async () => {
    await models.close();
    rmSync(folder, { recursive: true });
  });

  const apply = (changes: readonly Change[]) => {
    written += 1;
    const at = position(written);
    return models.apply([{ position: at, changes }], at);
  };
  const create = (): Change => {
    const [key, mark] = [randomUUID(), `MARK${String((marks += 1)).padStart(6, "0")}!`];
    live.set(key, mark);
    const document = { id: key, group: randomInt(5), email: mark, note: "x".repeat(randomInt(300)) };
    return { op: "put", collection: "people", key, document, fresh: true };
  };
  const takeAway = (): Change => {
    const key = [...live.keys()][randomInt(live.size)]!;
    live.delete(key);
    if (randomInt(2) === 0) return { op: "remove", collection: "people", key };
    return { op: "set", collection: "people", key, fields: { email: null } };
  };
  const rename = (key: string, email: string): Change => ({ op: "set", collection: "people", key, fields: { email } });
  const churn = async () => {
    for (let round = 0; round < 30; round += 1) {
      await apply(Array.from({ length: 100 }, create));
      await apply(Array.from({ length: 70 }, takeAway));
    }
  };

  /** Tries again while the thread that moves the write-ahead log is in the way, as any reader may be. */
  const scrub = async () => {
    const problem = () => models.scrub().then(() => null, String);
    const last = await eventually(problem, (text) => text === null || !text.includes("in the way"));
    expect(last).to.equal(null);
  };

  const emails = async () => {
    const [range, order] = [{ field: "email", from: "" }, { field: "email", descending: false }];
    const found = await models.find({ collection: "people", range, order, limit: 20_000 });
    return found.map(({ email }) => email);
  };

  it("erases them from all files, and nothing else", async () => {
    await churn();
    await scrub();
    expect(marksIn(folder)).to.deep.equal(new Set(live.values()));
    expect(await emails()).to.deep.equal([...live.values()].sort());
    await apply([create(), takeAway()]);
  });

  it("runs between queries, which see the whole collection all the time", async () => {
    await apply(Array.from({ length: 5_000 }, create));
    await apply([takeAway()]);
    const before = await models.count({ collection: "people" });
    const turn = { over: false };
    const scrubbing = scrub().finally(() => { turn.over = true; });
    const counts: number[] = [];
    while (!turn.over) {
      await nextTurn();
      counts.push(await models.count({ collection: "people" }));
    }
    await scrubbing;
    expect(counts.length).to.be.greaterThan(10);
    expect(new Set(counts)).to.deep.equal(new Set([before]));
    expect(marksIn(folder)).to.deep.equal(new Set(live.values()));
  });

  it("runs between writes, keeps all of them, and erases the values that they remove", async () => {
    await apply(Array.from({ length: 5_000 }, create));
    await apply([takeAway()]);
    const turn = { over: false, writes: 0 };
    const scrubbing = scrub().finally(() => { turn.over = true; });
    while (!turn.over) {
      const [key, mark] = [[...live.keys()][randomInt(live.size)]!, `MARK${String((marks += 1)).padStart(6, "0")}!`];
      live.set(key, mark);
      await apply([create(), takeAway(), ...(live.has(key) ? [rename(key, mark)] : []), create()]);
      turn.writes += 1;
      await nextTurn();
    }
    await scrubbing;
    expect(turn.writes).to.be.greaterThan(5);
    expect(await emails()).to.deep.equal([...live.values()].sort());
    await scrub();
    expect(marksIn(folder)).to.deep.equal(new Set(live.values()));
    expect(await emails()).to.deep.equal([...live.values()].sort());
  });

  it("is still due for a value that was removed while it ran", async () => {
    await apply(Array.from({ length: 2_000 }, create));
    await apply([takeAway()]);
    const reader = new DatabaseSync(join(folder, "read-models.db"), { readOnly: true });
    const due = () => reader.prepare("SELECT collection FROM scrubs").all().map(({ collection }) => collection);
    const scrubbing = scrub();
    await nextTurn();
    await apply([takeAway()]);
    await scrubbing;
    expect(due()).to.deep.equal(["people"]);
    await scrub();
    expect(due()).to.deep.equal([]);
    reader.close();
  });

  it("is completed though the process ended halfway through it", async () => {
    await churn();
    const failed = models.scrub().then(() => null, String);
    for (let turns = 0; turns < 3; turns += 1) await nextTurn();
    await models.close();
    expect(await failed).to.include("closed");
    const left = new DatabaseSync(join(folder, "read-models.db"), { readOnly: true });
    expect(left.prepare("SELECT name FROM sqlite_schema WHERE name = 'n_people'").all()).to.have.length(1);
    left.close();
    open();
    await apply([create(), takeAway()]);
    await eventually(async () => marksIn(folder).size, (size) => size === live.size);
    expect(marksIn(folder)).to.deep.equal(new Set(live.values()));
    expect(await emails()).to.deep.equal([...live.values()].sort());
  });

  it("is not due where a change removes nothing", async () => {
    await models.close();
    const clock = new ManualClock();
    models = new SqliteReadModels(join(folder, "read-models.db"), clock);
    const nobody = randomUUID();
    await apply([
      create(),
      { op: "set", collection: "people", key: nobody, fields: { email: null } },
      { op: "remove", collection: "people", key: nobody },
    ]);
    expect(clock.pending).to.deep.equal([]);
    await apply([takeAway()]);
    expect(clock.pending).to.deep.equal([1_000]);
  });

  it("runs automatically, though the process ended before it began", async () => {
    await churn();
    await models.close();
    open();
    await eventually(async () => marksIn(folder).size, (size) => size === live.size);
    expect(marksIn(folder)).to.deep.equal(new Set(live.values()));
  });

  it("rewrites the collection once, however long a reader is in the way, and reports the reader", async () => {
    await models.close();
    const file = join(folder, "read-models.db");
    const clock = new ManualClock();
    const anomalies: string[] = [];
    models = new SqliteReadModels(file, clock, (error) => anomalies.push(String(error)));
    const next = () => clock.advance(clock.pending[0] ?? 0);
    await apply(Array.from({ length: 1_000 }, create));
    await apply([takeAway(), create()]);
    const reader = new DatabaseSync(file, { readOnly: true });
    reader.exec("BEGIN; SELECT count(*) FROM c_people");
    const sizes = new Set<number>();
    for (let times = 1; times <= 3; times += 1) {
      await eventually(async () => {
        next();
        return anomalies.length;
      }, (told) => told >= times, 5_000);
      sizes.add(statSync(`${file}-wal`).size);
    }
    expect(new Set(anomalies)).to.deep.equal(new Set(["Error: a reader is in the way"]));
    expect(sizes.size).to.equal(1);
    reader.close();
    await eventually(async () => {
      next();
      return marksIn(folder).size;
    }, (size) => size === live.size, 5_000);
    expect(clock.pending).to.deep.equal([]);
  });

  it("erases all values when the read models are rebuilt", async () => {
    await churn();
    await models.reset([people], "2");
    await scrub();
    expect(marksIn(folder)).to.deep.equal(new Set());
  });
});
