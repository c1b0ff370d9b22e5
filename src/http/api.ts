import type { Services } from "../features/services.ts";
import type { Clock } from "../kernel/ports/clock.ts";
import type { Ids } from "../kernel/ports/ids.ts";
import type { Logger, Metrics } from "../kernel/ports/telemetry.ts";
import type { SharedMemory } from "./memory/request-memory.ts";

/** The parts that every kind of answer needs. */
export interface Common {
  readonly health: Health;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** All that the API needs. */
export interface Api extends Common {
  readonly services: Services;
  readonly memory: SharedMemory;
  readonly maxBodyBytes: number;
  /** How many proxies' entries of `X-Forwarded-For` to believe. */
  readonly trustedProxies: number;
  /** The folder of the built pages; null: none are served. */
  readonly pages: string | null;
  /** Fires when the process ends: answers that would go on for long end then. */
  readonly closing: AbortSignal;
}

/** The state of this process, for operators and their tools. */
export interface Health {
  /** Null when this process can do its work, else why not. */
  readonly ready: () => string | null;
  /** All metrics, in Prometheus' text format. */
  readonly metrics: () => Promise<string>;
}
