import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { AesSealing } from "../../adapters/aes-sealing/aes-sealing.ts";
import { EmbeddedEventStore } from "../../adapters/embedded-event-store/embedded-event-store.ts";
import { serveExpiringState } from "../../adapters/embedded-expiring-state/expiring-state-client.ts";
import { SqliteExpiringState } from "../../adapters/embedded-expiring-state/sqlite-expiring-state.ts";
import { serveReadModels } from "../../adapters/embedded-read-models/read-models-client.ts";
import { SqliteReadModels } from "../../adapters/embedded-read-models/sqlite-read-models.ts";
import { JsonEventCodec } from "../../adapters/event-codec/event-codec.ts";
import { SystemClock } from "../../adapters/system/system-clock.ts";
import { EmailOpener } from "../../application/people.ts";
import { Vault } from "../../application/vault.ts";
import type { Logger } from "../../ports/telemetry.ts";
import { ProjectionRunner } from "../../workers/projection-runner.ts";
import type { FromReadThread, ReadThreadData, ToReadThread } from "./read-thread-protocol.ts";

/**
 * The thread of the read side: it projects the log into the embedded read models, answers questions
 * about them, and keeps the expiring state.
 */
const { dataDir, masterKey, oldMasterKeys, ports } = workerData as ReadThreadData;
const parent = parentPort as MessagePort;
const clock = new SystemClock();
const codec = new JsonEventCodec();
/** An event accepted, attempted and delivered within this time costs one write; whoever waits ends it. */
const lingerMs = 200;
const keysInMemory = 10_000;

function tell(message: FromReadThread): void {
  parent.postMessage(message);
}

function line(level: keyof Logger): (fields: object, message: string) => void {
  return (fields, message) => tell({ kind: "log", level, fields: plain(fields), message });
}

/** Errors lose what they say on their way to another thread unless they are told apart. */
function plain(fields: object): object {
  const shown = Object.entries(fields).map(([name, value]: [string, unknown]) =>
    [name, value instanceof Error ? { type: value.name, message: value.message, stack: value.stack } : value] as const);
  return Object.fromEntries(shown);
}

/** SQLite's errors do not say with which file. */
function opened<Engine>(file: string, open: (path: string) => Engine): Engine {
  const path = join(dataDir, file);
  try {
    return open(path);
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

const logger: Logger = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
const log = await EmbeddedEventStore.attach(ports.log, { codec, clock });
const readModels = opened("read-models.db", (path) => new SqliteReadModels(path, clock));
const state = opened("state.db", (path) => new SqliteExpiringState(path, clock));
const sealing = new AesSealing(masterKey, oldMasterKeys);
const vault = new Vault(sealing, { max: keysInMemory });
const emails = new EmailOpener({ store: log, sealing, vault }, { max: keysInMemory });
const runner = new ProjectionRunner({
  log,
  writer: readModels,
  readModels,
  clock,
  logger,
  metrics: { trouble: (of) => tell({ kind: "trouble", of }) },
  prepare: (entries) => emails.prepare(entries),
  lingerMs,
});
readModels.onWanted((position) => runner.hurry(position));
serveReadModels(ports.readModels, readModels);
serveExpiringState(ports.state, state);

const orders: Readonly<Record<ToReadThread, () => Promise<void>>> = {
  follow: async () => runner.start(),
  rebuild: async () => {
    await runner.rebuild();
    tell({ kind: "rebuilt" });
  },
  close: async () => {
    await runner.stop();
    await log.close();
    await readModels.close();
    await state.close();
    process.exit(0);
  },
};
parent.on("message", (order: ToReadThread) => void orders[order]());
tell({ kind: "open" });
