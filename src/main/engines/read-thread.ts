import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { AesSealing } from "../../engines/aes-sealing/aes-sealing.ts";
import { SystemClock } from "../../engines/system/system-clock.ts";
import { EmailOpener } from "../../features/people/persons/email-opener.ts";
import type { Instruments, Logger } from "../../kernel/ports/telemetry.ts";
import { Vault } from "../../kernel/sealing/vault.ts";
import { serve } from "../../kernel/threads/calls.ts";
import { shrinkAtRest } from "../../kernel/threads/threads.ts";
import { ProjectionRunner } from "../../projector/projection-runner.ts";
import { joinLog } from "./log.ts";
import type { FromReadThread, Projector, ReadThreadData } from "./projector.ts";
import { openStores } from "./stores.ts";

/** The read thread projects the log; with embedded read models it serves them and the expiring state, too. */
const { log: link, readModels, orders, masterKey, oldMasterKeys } = workerData as ReadThreadData;
const parent = parentPort as MessagePort;
const keysInMemory = 10_000;

function tell(message: FromReadThread): void {
  parent.postMessage(message);
}

function line(level: keyof Logger): (fields: object, message: string) => void {
  return (fields, message) => {
    const plain = Object.entries(fields).map(([name, value]: [string, unknown]) =>
      [name, value instanceof Error ? takenApart(value) : value] as const);
    tell({ kind: "log", level, fields: Object.fromEntries(plain), message });
  };
}

/** Between threads an error would lose its name. */
function takenApart({ name, message, stack, cause }: Error): object {
  return { name, message, stack, ...(cause instanceof Error && { cause: takenApart(cause) }) };
}

shrinkAtRest();
const instruments: Instruments = {
  clock: new SystemClock(),
  logger: { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") },
  metrics: { anomaly: (of) => tell({ kind: "trouble", of }) },
};
const log = await joinLog(link, instruments);
const stores = await openStores(readModels, instruments);
const sealing = new AesSealing(masterKey, oldMasterKeys);
const vault = new Vault(sealing);
const emails = new EmailOpener({ store: log, sealing, vault }, { max: keysInMemory });
const runner = new ProjectionRunner({
  ...instruments,
  log,
  readModels: stores.readModels,
  prepare: (entries) => emails.prepare(entries),
  batchDelayMs: stores.batchDelayMs,
  // A scavenge skips the chunk being written.
  leavesOrphans: link.engine === "eventstoredb",
});
stores.onWanted((position) => runner.flush(position));
stores.onDamage((error) => runner.restart(error));

serve<Projector>(orders, {
  follow: async () => runner.start(),
  pause: () => runner.stop(),
  rebuild: () => runner.rebuild(),
});
async function close(): Promise<never> {
  await runner.stop();
  await log.close();
  await stores.close();
  process.exit(0);
}
parent.once("message", () => void close());
tell("open");
