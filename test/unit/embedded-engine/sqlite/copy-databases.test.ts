import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { copyDatabases } from "../../../../packages/embedded-engine/src/sqlite/copy-databases.ts";

describe("copies of databases", () => {
  let root: string;
  let [from, to] = ["", ""];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "copies-"));
    [from, to] = [join(root, "from"), join(root, "to")];
    for (const folder of [from, to]) mkdirSync(folder);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function make(name: string, value: number): void {
    const database = new DatabaseSync(join(from, name));
    database.exec(`CREATE TABLE kept (value INTEGER); INSERT INTO kept VALUES (${value})`);
    database.close();
  }

  function valueIn(name: string): unknown {
    const database = new DatabaseSync(join(to, name), { readOnly: true });
    try {
      return database.prepare("SELECT value FROM kept").get()?.["value"];
    } finally {
      database.close();
    }
  }

  const copy = () => copyDatabases(["one.db", "two.db"], from, to);

  it("are all made or none: after a failure halfway, the copy is simply made again", () => {
    make("one.db", 1);
    expect(copy).to.throw();
    expect(readdirSync(to)).to.deep.equal([]);
    make("two.db", 2);
    copy();
    expect(readdirSync(to)).to.deep.equal(["one.db", "two.db"]);
    expect([valueIn("one.db"), valueIn("two.db")]).to.deep.equal([1, 2]);
  });

  it("overwrite no earlier copy", () => {
    make("one.db", 1);
    make("two.db", 2);
    copy();
    rmSync(join(to, "one.db"));
    expect(copy).to.throw(`${join(to, "two.db")} exists already`);
    expect(readdirSync(to)).to.deep.equal(["two.db"]);
  });

  it("do not write into each other when begun at once: each is complete, or fails since another exists", async () => {
    for (const name of ["one.db", "two.db"]) make(name, 1);
    const large = new DatabaseSync(join(from, "two.db"));
    large.exec("CREATE TABLE large AS SELECT randomblob(20000000) AS bytes");
    large.close();
    const ends = await Promise.all(Array.from({ length: 3 }, async () => {
      const thread = new Worker(new URL("./copying-thread.ts", import.meta.url), { workerData: { from, to } });
      const [end] = (await once(thread, "message")) as [string];
      await thread.terminate();
      return end;
    }));
    expect(ends).to.include("copied");
    for (const end of ends) expect(end).to.match(/^copied$|exists already$/);
    expect(readdirSync(to)).to.deep.equal(["one.db", "two.db"]);
    expect([valueIn("one.db"), valueIn("two.db")]).to.deep.equal([1, 1]);
  });
});
