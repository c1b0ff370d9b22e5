import { LogThrottle } from "../../application/log-throttle.ts";
import type { Instruments, Anomaly } from "../../ports/telemetry.ts";

/** A trouble that is tried again, and what the log says of the first and of those of the same reason after it. */
interface RepeatedTrouble {
  readonly kind: Anomaly;
  readonly first: string;
  readonly more: string;
}

/** A listener that counts each error as the trouble, and logs it in few lines. */
export function repeatedTrouble(
  { clock, logger, metrics }: Instruments, { kind, first, more }: RepeatedTrouble,
): (error: unknown) => void {
  const logThrottle = new LogThrottle(clock);
  return (error) => {
    metrics.anomaly(kind);
    logThrottle.tell(
      String(error),
      () => logger.warn({ err: error }, first),
      (reason, times) => logger.warn({ reason, times }, more),
    );
  };
}
