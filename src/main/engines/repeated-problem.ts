import type { Instruments, Anomaly } from "../../kernel/ports/telemetry.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";

/** An anomaly that recurs, with the log lines for the first error and for later ones of the same reason. */
interface RepeatedTrouble {
  readonly kind: Anomaly;
  readonly first: string;
  readonly more: string;
}

/** A listener that counts each error as the anomaly, and throttles its log lines. */
export function repeatedProblem(
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
