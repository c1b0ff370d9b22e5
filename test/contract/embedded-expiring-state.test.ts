import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { remoteExpiringState, SqliteExpiringState } from "../../packages/embedded-engine/src/index.ts";
import type { ExpiringState } from "../../src/kernel/ports/expiring-state.ts";
import { serve, type Remote } from "../../src/kernel/threads/calls.ts";
import { expiringStateContract, type ExpiringStateUnderTest } from "./expiring-state.ts";

/** One database in one thread, and a client for each simulated process: the embedded default. */
function openSqlite(folder: string, time: { now: number }): ExpiringStateUnderTest {
  const file = join(folder, "state.db");
  const state = new SqliteExpiringState(file, { now: () => time.now });
  const clients: Remote<ExpiringState>[] = [];
  const connect = () => {
    const { port1, port2 } = new MessageChannel();
    serve<ExpiringState>(port1, state);
    const client = remoteExpiringState(port2);
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

const open = () => openSqlite(mkdtempSync(join(tmpdir(), "expiring-state-")), { now: 1_700_000_000_000 });

expiringStateContract("SQLite, from another thread,", async () => open());
