import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { Statements } from "../sqlite/statements.ts";
import type { AheadOf, Lookups } from "./read-ahead.ts";

/** Entry of a thread that reads ahead, over its own read-only connection. */
const { path, wanted } = workerData as AheadOf;
const statements = new Statements(new DatabaseSync(path, { readOnly: true }));

parentPort?.on("message", ({ number, sql, keys }: Lookups) => {
  for (const key of keys) {
    if (Atomics.load(wanted, 0) !== number) return;
    statements.of(sql).get(key);
  }
});
