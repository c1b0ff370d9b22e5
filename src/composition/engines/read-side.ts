import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import { ExpiringStateClient } from "../../adapters/embedded-expiring-state/expiring-state-client.ts";
import { ReadModelsClient } from "../../adapters/embedded-read-models/read-models-client.ts";
import type { ExpiringState } from "../../ports/expiring-state.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import type { Logger, Metrics } from "../../ports/telemetry.ts";
import type { FromReadThread, ReadThreadData, ToReadThread } from "./read-thread-protocol.ts";

/** The read side in its own thread, seen from the main one. */
export interface ReadSide {
  readonly readModels: ReadModels;
  readonly state: ExpiringState;
  /** Begins to project the log. */
  follow(): void;
  /** Drops the read models and builds them from the whole log. */
  rebuild(): Promise<void>;
  /** Resolves when the files are closed. */
  close(): Promise<void>;
}

export interface ReadSideSettings extends Omit<ReadThreadData, "ports"> {
  /** A connection to the log for the thread. */
  readonly log: MessagePort;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
  /** Told when the thread has died: nothing is projected any more, the process had better end. */
  readonly onFatal: (error: Error) => void;
}

/** Starts the read thread. Rejects when its files cannot be opened. */
export async function openReadSide(settings: ReadSideSettings): Promise<ReadSide> {
  const { log, logger, metrics, onFatal, ...data } = settings;
  const readModels = new MessageChannel();
  const state = new MessageChannel();
  const ports = { log, readModels: readModels.port2, state: state.port2 };
  const thread = new Worker(new URL("./read-thread.ts", import.meta.url), {
    workerData: { ...data, ports } satisfies ReadThreadData,
    transferList: [ports.log, ports.readModels, ports.state],
  });
  const told = (kind: FromReadThread["kind"]) =>
    new Promise<void>((resolve, reject) => {
      thread.on("message", (message: FromReadThread) => message.kind === kind && resolve());
      thread.once("error", reject);
    });
  await told("open");
  thread.on("error", onFatal);
  thread.on("message", (message: FromReadThread) => {
    if (message.kind === "trouble") metrics.trouble(message.of);
    else if (message.kind === "log") logger[message.level](message.fields, message.message);
  });
  const order = (what: ToReadThread) => thread.postMessage(what);
  const clients = { readModels: new ReadModelsClient(readModels.port1), state: new ExpiringStateClient(state.port1) };
  return {
    ...clients,
    follow: () => order("follow"),
    rebuild: async () => {
      const rebuilt = told("rebuilt");
      order("rebuild");
      await rebuilt;
    },
    close: async () => {
      const ended = new Promise<void>((resolve) => thread.once("exit", () => resolve()));
      order("close");
      await ended;
      clients.readModels.close();
      clients.state.close();
    },
  };
}
