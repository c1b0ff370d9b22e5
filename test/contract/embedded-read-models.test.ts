import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { remoteReadModels, SqliteReadModels } from "../../packages/embedded-engine/src/index.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import type { ReadModels } from "../../src/kernel/ports/read-models.ts";
import { serve } from "../../src/kernel/threads/calls.ts";
import { InMemoryReadModels } from "../support/in-memory-read-models.ts";
import { sized } from "../support/size.ts";
import { readModelsContract } from "./read-models.ts";
import type { ReadModelsUnderTest } from "./read-models-things.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "read-models-"));

function openSqlite(folder: string, remote: boolean): ReadModelsUnderTest {
  const models = new SqliteReadModels(join(folder, "read-models.db"), new SystemClock());
  const { port1, port2 } = new MessageChannel();
  serve<ReadModels>(port1, models);
  const client = remoteReadModels(port2);
  const close = async () => {
    client.close();
    await models.close();
  };
  return {
    reader: remote ? client : models,
    writer: models,
    reopen: async () => {
      await close();
      return openSqlite(folder, remote);
    },
    crashDuring: async (write, moment) => {
      const writing = write();
      // The batch is written in a few slices, one in each turn of the event loop.
      for (let turn = 0; turn < moment * 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      const found = newFolder();
      cpSync(folder, found, { recursive: true });
      await writing;
      return openSqlite(found, remote);
    },
    close: async () => {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

for (const remote of [false, true]) {
  const name = remote ? "SQLite, from another thread," : "SQLite";
  const traits = { wholeBatches: true, crashes: true, runs: sized(100, 2_000) };
  readModelsContract(name, async () => openSqlite(newFolder(), remote), traits);
}

/** The model for the random cases fulfils the contract itself. */
function openInMemory(models = new InMemoryReadModels()): ReadModelsUnderTest {
  return { reader: models, writer: models, reopen: async () => openInMemory(models), close: async () => undefined };
}

readModelsContract("The plain model", async () => openInMemory(), {
  wholeBatches: false,
  crashes: false,
  runs: 5,
});
