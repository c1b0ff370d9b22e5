import type { MessagePort } from "node:worker_threads";
import type { Logger, Anomaly } from "../../ports/telemetry.ts";
import type { LogLink } from "./log.ts";

/** Where the read thread keeps the read models; with embedded ones it keeps the expiring state and answers, too. */
export type ReadModelsLink =
  | {
      readonly engine: "embedded";
      readonly dataDir: string;
      readonly ports: { readonly readModels: MessagePort; readonly state: MessagePort };
    }
  | { readonly engine: "mongodb"; readonly url: string };

/** What the read thread is started with. */
export interface ReadThreadData {
  readonly log: LogLink;
  readonly readModels: ReadModelsLink;
  readonly masterKey: Uint8Array;
  readonly oldMasterKeys: readonly Uint8Array[];
}

/** Orders to the read thread: follow the log, pause in that, build the read models again, or let go and end. */
export type ToReadThread = "follow" | "pause" | "rebuild" | "close";

/** What the read thread tells. */
export type FromReadThread =
  | { readonly kind: "open" }
  | { readonly kind: "paused" }
  | { readonly kind: "rebuilt" }
  | { readonly kind: "trouble"; readonly of: Anomaly }
  | { readonly kind: "log"; readonly level: keyof Logger; readonly fields: object; readonly message: string };
