import type { MessagePort } from "node:worker_threads";
import type { Logger, Anomaly } from "../../kernel/ports/telemetry.ts";
import type { LogLink } from "./log.ts";

/**
 * The place of the read models. With embedded ones the read thread keeps the expiring state and answers queries, too.
 */
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
  readonly masterKey: Uint8Array;
  readonly oldMasterKeys: readonly Uint8Array[];
}

/** Orders to the read thread: follow the log, pause, build the read models again, or close its engines and end. */
export type ToReadThread = "follow" | "pause" | "rebuild" | "close";

/** A message of the read thread. */
export type FromReadThread =
  | { readonly kind: "open" }
  | { readonly kind: "paused" }
  | { readonly kind: "rebuilt" }
  | { readonly kind: "trouble"; readonly of: Anomaly }
  | { readonly kind: "log"; readonly level: keyof Logger; readonly fields: object; readonly message: string };
