import type { Config } from "../../config/config.ts";
import type { Secrets } from "../../config/secrets.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger, Metrics } from "../../ports/telemetry.ts";

/** An engine outside of this process: it may be away. */
export interface OutsideEngine {
  readonly name: string;
  readonly isQueue?: true;
  /** Rejects when it does not answer soon. */
  ping(): Promise<void>;
}

/** What engines are opened with. */
export interface EngineSettings {
  readonly config: Pick<Config, "dataDir" | "eventStore" | "queue" | "readModels">;
  readonly secrets: Pick<Secrets, "oldMasterKeys" | "kafkaPassword">;
  readonly masterKey: Uint8Array;
  /** Whether this process projects the log. */
  readonly projects: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
  /** Told when a thread has died: the process had better end. */
  readonly onFatal: (error: Error) => void;
}
