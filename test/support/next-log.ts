import { logPath, type Converter, type KeptFile } from "../../packages/embedded-engine/src/index.ts";

/** The log's file as two releases to come have it: each adds a column to the table. */
export function nextLog(dataDir: string, onRow: () => void = () => undefined): KeptFile {
  const converters = [
    adding({ version: 3, release: "0.8.0" }, ["bytes"], "length(data)", onRow),
    adding({ version: 4, release: "0.9.1" }, ["bytes", "doubled"], "bytes * 2", onRow),
  ];
  return { path: logPath(dataDir), format: { version: 4, release: "0.9.1" }, converters };
}

const rowsOfStep = 200;

function adding(
  makes: Converter["makes"], columns: readonly string[], value: string, onRow: () => void,
): Converter {
  return {
    makes,
    *steps(database) {
      database.exec(`
        CREATE TABLE IF NOT EXISTS main.log (
          sequence INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL, id TEXT NOT NULL,
          type TEXT NOT NULL, metadata TEXT NOT NULL, data TEXT NOT NULL, ${columns.join(" INTEGER NOT NULL, ")} INTEGER
        ) STRICT;
        CREATE TABLE IF NOT EXISTS main.segments (file TEXT PRIMARY KEY, up_to INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      `);
      const head = (schema: string) =>
        Number(database.prepare(`SELECT coalesce(max(sequence), 0) AS head FROM ${schema}.log`).get()?.["head"]);
      const rows = database.prepare(`SELECT *, ${value} FROM old.log WHERE sequence > ? ORDER BY sequence LIMIT ?`);
      const values = Array(7 + columns.length).fill("?").join(", ");
      const insert = database.prepare(`INSERT INTO main.log VALUES (${values})`);
      rows.setReturnArrays(true);
      for (let reached = head("main"); reached < head("old"); reached = head("main")) {
        for (const row of rows.all(reached, rowsOfStep)) {
          insert.run(...row as unknown as (string | number)[]);
          onRow();
        }
        yield head("main") / head("old");
      }
    },
  };
}
