import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from "node:sqlite";
import { expect } from "chai";
import { schemaOf } from "../../../../../src/adapters/embedded/read-models/columns.ts";
import { openDatabase } from "../../../../../src/adapters/embedded/read-models/database.ts";
import { Queries } from "../../../../../src/adapters/embedded/read-models/queries.ts";
import { ReadAhead } from "../../../../../src/adapters/embedded/read-models/read-ahead.ts";
import type { CollectionDefinition } from "../../../../../src/ports/read-models.ts";
import { withoutThreads } from "../../../../support/no-threads.ts";
import { eventually } from "../../../../support/relay.ts";

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

    /** The names of a page of which each document took so long to look up. */
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

    it("begins where a document is slow to come, with those that follow, and ends with the page", () => {
      expect(pageWhere(1.2)).to.deep.equal(["a", "b", "c", "d"]);
      expect(told).to.deep.equal([["c", "d"], "end"]);
    });

    it("is left where they come from memory", () => {
      expect(pageWhere(0.4)).to.deep.equal(["a", "b", "c", "d"]);
      expect(told).to.deep.equal([]);
    });
  });

  describe("in threads", () => {
    /** Takes some milliseconds a key, in which the file is read. */
    const lookup = "WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT 1 FROM n, c_things WHERE name = ? LIMIT 20000) " +
      "SELECT count(*) FROM n";
    let ahead: ReadAhead;

    beforeEach(() => {
      ahead = new ReadAhead(file);
    });
    afterEach(() => ahead.close());

    /** Whether somebody reads: the write-ahead log, where something is, cannot begin anew then. */
    async function isRead(): Promise<boolean> {
      database.exec("DELETE FROM c_things WHERE name = 'z'; INSERT INTO c_things VALUES ('z')");
      return database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] === 1;
    }

    it("makes the lookups, and leaves those which nobody wants any more", async () => {
      ahead.begin(lookup, Array.from({ length: 100_000 }, () => "a"));
      await eventually(isRead, (yes) => yes);
      ahead.end();
      await eventually(isRead, (yes) => !yes);
    });

    it("makes none where no thread is to be had, and goes on once one is", async () => {
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
