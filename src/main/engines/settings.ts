import type { Instruments } from "../../kernel/ports/telemetry.ts";
import type { Config } from "../config/config.ts";
import type { Secrets } from "../config/secrets.ts";

/** An engine that may be unavailable: outside of this process, or on a full or broken disk. */
export interface WatchedEngine {
  readonly name: string;
  readonly isQueue?: true;
  /** The problem behind an error of `ping`; by default a missing answer. */
  readonly awayText?: (reason: unknown) => string;
  /** Whether an error of `ping` is permanent: a start then fails at once. */
  readonly isUnfit?: (reason: unknown) => boolean;
  /** Rejects if the engine does not answer soon, or cannot do its work. */
  ping(): Promise<void>;
  /** The monotonic ms of its last answer; -Infinity before the first. A busy engine answers pings late. */
  readonly answeredAt?: () => number;
}

/** Settings for opening engines. */
export interface EngineSettings extends Instruments {
  readonly config: Pick<Config, "dataDir" | "eventStore" | "queue" | "readModels">;
  readonly secrets: Pick<Secrets, "oldMasterKeys" | "kafkaPassword">;
  readonly masterKey: Uint8Array;
  readonly projects: boolean;
  /** Called when a thread has died: the process should end. */
  readonly onFatal: (error: Error) => void;
}
