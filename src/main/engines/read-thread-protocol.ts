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
  /** Where it serves the projector. */
  readonly orders: MessagePort;
  readonly masterKey: Uint8Array;
  readonly oldMasterKeys: readonly Uint8Array[];
}

/** A message of the read thread: first, or after troubles, that its engines are open. "close" ends it. */
export type FromReadThread =
  | "open"
  | { readonly kind: "trouble"; readonly of: Anomaly }
  | { readonly kind: "log"; readonly level: keyof Logger; readonly fields: object; readonly message: string };
