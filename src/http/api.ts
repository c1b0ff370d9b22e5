import type { Services } from "../features/services.ts";
import type { Clock } from "../kernel/ports/clock.ts";
import type { Ids } from "../kernel/ports/ids.ts";
import type { Logger, Metrics } from "../kernel/ports/telemetry.ts";
import type { SharedMemory } from "./memory/request-memory.ts";
import type { PortalPages } from "./pages/pages.ts";

/** Dependencies of all answers. */
export interface Common {
  readonly health: Health;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Dependencies of the API. */
export interface Api extends Common {
  readonly services: Services;
  readonly memory: SharedMemory;
  readonly maxBodyBytes: number;
  /** The number of trusted entries of `X-Forwarded-For`. */
  readonly trustedProxies: number;
  /** The folder of the built pages, if they are served. */
  readonly pages: string | null;
  readonly portal: PortalPages;
  readonly closing: AbortSignal;
}

/** The state of the process. */
export interface Health {
  /** The problem that keeps the process from its work, if any. */
  readonly ready: () => string | null;
  readonly metrics: () => Promise<string>;
}
