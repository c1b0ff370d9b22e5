import { Worker } from "node:worker_threads";
import { endThread } from "../../kernel/threads/end-thread.ts";
import type { FromReadThread, ReadThreadData, ToReadThread } from "./read-thread-protocol.ts";
import type { EngineSettings } from "./settings.ts";

/** Projects the log, in a thread of its own. */
export interface Projector {
  /** Begins to project the log, or resumes. */
  follow(): void;
  /** Resolves when nothing is being written any more. */
  pause(): Promise<void>;
  /** Drops the read models and builds them from the whole log. Not while it follows. */
  rebuild(): Promise<void>;
}

type ThreadSettings = Pick<EngineSettings, "masterKey" | "secrets" | "logger" | "metrics" | "onFatal">;

/** Starts the read thread. Rejects when its files cannot be opened. */
export async function startReadThread(
  { masterKey, secrets: { oldMasterKeys }, logger, metrics, onFatal }: ThreadSettings,
  links: Pick<ReadThreadData, "log" | "readModels">,
): Promise<Projector & { close(): Promise<void> }> {
  const { log, readModels } = links;
  const thread = new Worker(new URL("./read-thread.ts", import.meta.url), {
    name: "read-models",
    workerData: { ...links, masterKey, oldMasterKeys } satisfies ReadThreadData,
    transferList: [
      ...(log.engine === "embedded" ? [log.port] : []),
      ...(readModels.engine === "embedded" ? Object.values(readModels.ports) : []),
    ],
  });
  const told = (kind: FromReadThread["kind"]) =>
    new Promise<void>((resolve, reject) => {
      const listen = (message: FromReadThread) => {
        if (message.kind !== kind) return;
        thread.off("message", listen);
        thread.off("error", reject);
        resolve();
      };
      thread.on("message", listen);
      thread.once("error", reject);
    });
  // Before the thread is ready: opening its engines may cause anomalies, too.
  thread.on("message", (message: FromReadThread) => {
    if (message.kind === "trouble") metrics.anomaly(message.of);
    else if (message.kind === "log") logger[message.level](message.fields, message.message);
  });
  await told("open");
  thread.on("error", onFatal);
  const order = (what: ToReadThread) => thread.postMessage(what);
  const done = async (what: ToReadThread, kind: FromReadThread["kind"]) => {
    const heard = told(kind);
    order(what);
    await heard;
  };
  return {
    follow: () => order("follow"),
    pause: () => done("pause", "paused"),
    rebuild: () => done("rebuild", "rebuilt"),
    close: () => endThread(thread, "close" satisfies ToReadThread),
  };
}
