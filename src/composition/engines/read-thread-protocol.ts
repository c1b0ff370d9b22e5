import type { MessagePort } from "node:worker_threads";
import type { Logger } from "../../ports/telemetry.ts";

/** What the read thread is started with. */
export interface ReadThreadData {
  readonly dataDir: string;
  readonly masterKey: Uint8Array;
  readonly oldMasterKeys: readonly Uint8Array[];
  readonly ports: { readonly log: MessagePort; readonly readModels: MessagePort; readonly state: MessagePort };
}

/** Orders to the read thread: follow the log, build the read models again, or let go and end. */
export type ToReadThread = "follow" | "rebuild" | "close";

/** What the read thread tells. */
export type FromReadThread =
  | { readonly kind: "open" }
  | { readonly kind: "rebuilt" }
  | { readonly kind: "trouble"; readonly of: string }
  | { readonly kind: "log"; readonly level: keyof Logger; readonly fields: object; readonly message: string };
