import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MessageChannel } from "node:worker_threads";
import {
  ExpiringStateClient,
  serveExpiringState,
} from "../../src/adapters/embedded-expiring-state/expiring-state-client.ts";
import { SqliteExpiringState } from "../../src/adapters/embedded-expiring-state/sqlite-expiring-state.ts";
import { expiringStateContract, type ExpiringStateUnderTest } from "./expiring-state.ts";

/** One database in one thread, and a client for each process that would be: the embedded default. */
function openSqlite(folder: string, time: { now: number }): ExpiringStateUnderTest {
  const file = join(folder, "state.db");
  const state = new SqliteExpiringState(file, { now: () => time.now });
  const clients: ExpiringStateClient[] = [];
  const connect = () => {
    const { port1, port2 } = new MessageChannel();
    serveExpiringState(port1, state);
    const client = new ExpiringStateClient(port2);
    clients.push(client);
    return client;
  };
  const close = async () => {
    for (const client of clients) client.close();
    await state.close();
  };
  return {
    state: connect(),
    pass: async (ms) => { time.now += ms; },
    another: async () => connect(),
    stored: async () => {
      const database = new DatabaseSync(file, { readOnly: true });
      const count = (table: string) => Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
      const stored = count("entries") + count("admissions");
      database.close();
      return stored;
    },
    reopen: async () => {
      await close();
      return openSqlite(folder, time);
    },
    close: async () => {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

expiringStateContract(
  "SQLite, from another thread,",
  async () => openSqlite(mkdtempSync(join(tmpdir(), "expiring-state-")), { now: 1_700_000_000_000 }),
  { tickMs: 1_000, ownClock: true },
);
