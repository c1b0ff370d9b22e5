import type { Config } from "../../config/config.ts";
import type { Secrets } from "../../config/secrets.ts";
import type { Instruments } from "../../ports/telemetry.ts";

/** An engine that may be away: outside of this process, or on a disk that cannot be written. */
export interface WatchedEngine {
  readonly name: string;
  readonly isQueue?: true;
  /** Why this process cannot work, from the error that `ping` rejected with, where that is more than no answer. */
  readonly awayText?: (reason: unknown) => string;
  /** Whether the error that `ping` rejected with will not go away by itself: then no start waits for it. */
  readonly isUnfit?: (reason: unknown) => boolean;
  /** Rejects when it does not answer soon, or cannot do its work. */
  ping(): Promise<void>;
}

/** What engines are opened with. */
export interface EngineSettings extends Instruments {
  readonly config: Pick<Config, "dataDir" | "eventStore" | "queue" | "readModels">;
  readonly secrets: Pick<Secrets, "oldMasterKeys" | "kafkaPassword">;
  readonly masterKey: Uint8Array;
  /** Whether this process projects the log. */
  readonly projects: boolean;
  /** Called when a thread has died: the process should then end. */
  readonly onFatal: (error: Error) => void;
}
