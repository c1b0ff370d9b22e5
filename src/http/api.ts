import type { Services } from "../application/services.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
import type { Health } from "./routes/health.ts";

/** All that the HTTP layer needs. */
export interface Api {
  readonly services: Services;
  readonly health: Health;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly maxBodyBytes: number;
  /** How many proxies' entries of `X-Forwarded-For` to believe. */
  readonly trustedProxies: number;
}
