import type { Instruments } from "../../kernel/ports/telemetry.ts";
import type { Config } from "../config/config.ts";
import type { Secrets } from "../config/secrets.ts";

/** An engine that may be unavailable: outside of this process, or on a disk that cannot be written. */
export interface WatchedEngine {
  readonly name: string;
  readonly isQueue?: true;
  /**
   * The reason why this process cannot work, from the error of `ping`; left out where that is always a missing answer.
   */
  readonly awayText?: (reason: unknown) => string;
  /** Whether the error of `ping` is permanent: then no start waits for the engine. */
  readonly isUnfit?: (reason: unknown) => boolean;
  /** Rejects when it does not answer soon, or cannot do its work. */
  ping(): Promise<void>;
  /**
   * When it last answered anything, monotonic ms; -Infinity before the first answer. A busy engine answers pings late:
   * it counts as away only when no other answer comes either. Left out where a failed ping alone is enough.
   */
  readonly answeredAt?: () => number;
}

/** The settings for opening engines. */
export interface EngineSettings extends Instruments {
  readonly config: Pick<Config, "dataDir" | "eventStore" | "queue" | "readModels">;
  readonly secrets: Pick<Secrets, "oldMasterKeys" | "kafkaPassword">;
  readonly masterKey: Uint8Array;
  /** Whether this process projects the log. */
  readonly projects: boolean;
  /** Called when a thread has died: the process should then end. */
  readonly onFatal: (error: Error) => void;
}
