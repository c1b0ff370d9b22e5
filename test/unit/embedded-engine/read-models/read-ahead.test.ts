import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from "node:sqlite";
import { expect } from "chai";
import { schemaOf } from "../../../../packages/embedded-engine/src/read-models/columns.ts";
import { openDatabase } from "../../../../packages/embedded-engine/src/read-models/database.ts";
import { Queries } from "../../../../packages/embedded-engine/src/read-models/queries.ts";
import { ReadAhead } from "../../../../packages/embedded-engine/src/read-models/read-ahead.ts";
import type { CollectionDefinition } from "../../../../src/kernel/ports/read-models.ts";
import { withoutThreads } from "../../../support/no-threads.ts";
import { eventually } from "../../../support/relay.ts";

const things: CollectionDefinition = { name: "things", key: "name", fields: { name: "text" }, indexes: [] };
const names = ["a", "b", "c", "d", "e"];

describe("reading ahead", () => {
  let folder: string;
  let file: string;
  let database: DatabaseSync;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "read-ahead-"));
    file = join(folder, "test.db");
    database = openDatabase(file, () => undefined);
    for (const sql of schemaOf(things)) database.exec(sql);
    for (const name of names) database.prepare("INSERT INTO c_things VALUES (?)").run(name);
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  describe("by a page of documents", () => {
    const page = { collection: "things", order: { field: "name", descending: false }, limit: 4 };
    let told: (readonly SQLOutputValue[] | "end")[];

    /** The names of a page where the lookup of each document takes so long. */
    function pageWhere(takesMs: number): unknown[] {
      told = [];
      let now = 0;
      const slow = {
        isTransaction: true,
        prepare: (sql: string) => {
          const statement = database.prepare(sql);
          const get = statement.get.bind(statement) as (key?: SQLInputValue) => Record<string, SQLOutputValue>;
          statement.get = (key) => {
            now += takesMs;
            return get(key as SQLInputValue);
          };
          return statement;
        },
      };
      const ahead = {
        begin: (_: string, keys: readonly SQLOutputValue[]) => told.push(keys),
        end: () => told.push("end"),
      };
      const queries = new Queries(slow as unknown as DatabaseSync, ahead as unknown as ReadAhead, () => now);
      return queries.find(things, page).map(({ name }) => name);
    }

    it("begins after a slow lookup, with the documents that follow, and ends with the page", () => {
      expect(pageWhere(1.2)).to.deep.equal(["a", "b", "c", "d"]);
      expect(told).to.deep.equal([["c", "d"], "end"]);
    });

    it("is not begun where documents come from memory", () => {
      expect(pageWhere(0.4)).to.deep.equal(["a", "b", "c", "d"]);
      expect(told).to.deep.equal([]);
    });
  });

  describe("in threads", () => {
    /** Takes some milliseconds for each key, in which the file is read. */
    const lookup = "WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT 1 FROM n, c_things WHERE name = ? LIMIT 20000) " +
      "SELECT count(*) FROM n";
    let ahead: ReadAhead;

    beforeEach(() => {
      ahead = new ReadAhead(file);
    });
    afterEach(() => ahead.close());

    /** Whether a thread reads: a write-ahead log that holds something cannot be truncated then. */
    async function isRead(): Promise<boolean> {
      database.exec("DELETE FROM c_things WHERE name = 'z'; INSERT INTO c_things VALUES ('z')");
      return database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] === 1;
    }

    it("makes the lookups, and drops them once their query has ended", async () => {
      ahead.begin(lookup, Array.from({ length: 100_000 }, () => "a"));
      await eventually(isRead, (yes) => yes);
      ahead.end();
      await eventually(isRead, (yes) => !yes);
    });

    it("makes no lookups while the system gives no thread, and goes on once it does", async () => {
      await withoutThreads(() => ahead.begin(lookup, names));
      ahead.begin(lookup, Array.from({ length: 100_000 }, () => "a"));
      await eventually(isRead, (yes) => yes);
    });

    it("goes on after a lookup that failed", async () => {
      ahead.begin("SELECT * FROM dropped WHERE name = ?", names);
      ahead.end();
      await eventually(() => {
        ahead.begin(lookup, Array.from({ length: 100 }, () => "a"));
        return isRead();
      }, (yes) => yes);
    });
  });
});
