import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { LeastFact, LeastMessage, LeastThread } from "../support/least-log.ts";

/** A thread of a {@link LeastLog}: writes each message in one transaction, then acknowledges it. */
const { folder, keeps } = workerData as LeastThread;
const db = new DatabaseSync(join(folder, `${keeps}.db`));
const write = keeps === "log" ? logWriter() : listWriter();

function logWriter(): (text: string) => void {
  db.exec(`
    PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE log (sequence INTEGER PRIMARY KEY, fact TEXT NOT NULL) STRICT`);
  const insert = db.prepare("INSERT INTO log (fact) VALUES (?)");
  return (text) => void insert.run(text);
}

function listWriter(): (text: string) => void {
  db.exec(`
    PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
    CREATE TABLE events (id TEXT PRIMARY KEY, destination TEXT, status TEXT, at TEXT) STRICT, WITHOUT ROWID;
    CREATE INDEX by_destination ON events (destination, at);
    CREATE INDEX by_status ON events (status, at)`);
  const upsert = db.prepare(
    "INSERT INTO events VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET status = excluded.status");
  return (text) => {
    const { type, data: { eventId, destinationId, at } } = JSON.parse(text) as LeastFact;
    upsert.run(eventId, destinationId, type, at);
  };
}

parentPort!.on("message", ({ batch, texts }: LeastMessage) => {
  db.exec("BEGIN IMMEDIATE");
  for (const text of texts) write(text);
  db.exec("COMMIT");
  parentPort!.postMessage(batch);
});
