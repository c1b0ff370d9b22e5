import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import type { Logger, Anomaly } from "../../kernel/ports/telemetry.ts";
import { remote, type MethodsOf } from "../../kernel/threads/calls.ts";
import { endThread } from "../../kernel/threads/threads.ts";
import type { LogLink } from "./log.ts";
import type { EngineSettings } from "./settings.ts";

/** Projects the log in a separate thread. */
export interface Projector {
  follow(): Promise<void>;
  pause(): Promise<void>;
  /** Drops the read models and builds them from the whole log. Not while it follows. */
  rebuild(): Promise<void>;
}

/** How the read thread reaches the read models. It serves embedded ones, and the expiring state, over the ports. */
export type ReadModelsLink =
  | {
      readonly engine: "embedded";
      readonly dataDir: string;
      readonly ports: { readonly readModels: MessagePort; readonly state: MessagePort };
    }
  | { readonly engine: "mongodb"; readonly url: string };

/** The data that the read thread is started with. */
export interface ReadThreadData {
  readonly log: LogLink;
  readonly readModels: ReadModelsLink;
  readonly orders: MessagePort;
  readonly masterKey: Uint8Array;
  readonly oldMasterKeys: readonly Uint8Array[];
}

/** A message of the read thread; "open" once its engines are open. */
export type FromReadThread =
  | "open"
  | { readonly kind: "trouble"; readonly of: Anomaly }
  | { readonly kind: "log"; readonly level: keyof Logger; readonly fields: object; readonly message: string };

const orders: MethodsOf<Projector> = { follow: true, pause: true, rebuild: true };

type ThreadSettings = Pick<EngineSettings, "masterKey" | "secrets" | "logger" | "metrics" | "onFatal">;

/** Starts the read thread. Rejects if its files cannot be opened. */
export async function startReadThread(
  { masterKey, secrets: { oldMasterKeys }, logger, metrics, onFatal }: ThreadSettings,
  links: Pick<ReadThreadData, "log" | "readModels">,
): Promise<Projector & { close(): Promise<void> }> {
  const { log, readModels } = links;
  const { port1, port2 } = new MessageChannel();
  const thread = new Worker(new URL("./read-thread.ts", import.meta.url), {
    name: "read-models",
    workerData: { ...links, orders: port2, masterKey, oldMasterKeys } satisfies ReadThreadData,
    transferList: [
      port2,
      ...(log.engine === "embedded" ? [log.port] : []),
      ...(readModels.engine === "embedded" ? Object.values(readModels.ports) : []),
    ],
  });
  await new Promise<void>((resolve, reject) => {
    thread.once("error", reject);
    thread.on("message", (message: FromReadThread) => {
      if (message === "open") resolve();
      // Opening its engines may cause anomalies, too.
      else if (message.kind === "trouble") metrics.anomaly(message.of);
      else logger[message.level](message.fields, message.message);
    });
  });
  let lost: Error | undefined;
  thread.on("error", (error: Error) => {
    lost = error;
    onFatal(error);
  });
  const projector = remote(port1, orders, (message) => lost ?? new Error(message));
  const close = async () => {
    await endThread(thread, "close");
    projector.close();
  };
  return { ...projector, close };
}
