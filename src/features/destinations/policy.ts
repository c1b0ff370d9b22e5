import { durationMs } from "../../kernel/domain/duration.ts";
import { integer, list, object, optional, text, type ValueOf } from "../../kernel/domain/schema.ts";
import { dayMs } from "../../kernel/domain/time.ts";

/** When failed attempts to a destination are followed by others. */
export const retryPolicy = object({
  schedule: list(text(), "The waits after the 1st, 2nd, … failure, such as `5s`; the last one repeats.", 1),
  maxTrys: integer(1, "Attempts before an event is given up."),
  retryOn: optional(list(
    text(), "The outcomes that are followed by another attempt: statuses, `3xx` to `5xx`, `timeout`, `connection`.",
  )),
}, "Takes the place of the relay's schedule and of the tenant's maxTrys.");
/** One as facts have it. */
export type DestinationRetryPolicy = ValueOf<typeof retryPolicy>;

/** When the circuit of a destination opens, and for how long. */
export const circuitPolicy = object({
  failures: integer(1, "Consecutive failures that open it."),
  timer: integer(1, "Seconds that it stays open before a probe."),
}, "Takes the place of the tenant's settings.");
/** One as facts have it. */
export type CircuitPolicy = ValueOf<typeof circuitPolicy>;

const longestWaitMs = 365 * dayMs;
const outcomeForm = /^(?:[13-9]\d\d|[345]xx|timeout|connection)$/;

/** What is wrong with a retry policy, beginning with the name of the field at fault; null where nothing is. */
export function problemOfRetryPolicy({ schedule, retryOn = [] }: DestinationRetryPolicy): string | null {
  for (const [at, wait] of schedule.entries()) {
    const ms = durationMs(wait);
    if (ms === null || ms < 1 || ms > longestWaitMs) {
      return `retryPolicy.schedule.${at}: must be a duration from 1ms to 365d, such as 250ms, 5s, 5m, 2h or 1d`;
    }
  }
  for (const [at, outcome] of retryOn.entries()) {
    const where = `retryPolicy.retryOn.${at}`;
    if (!outcomeForm.test(outcome)) {
      return `${where}: must be a status outside 2xx such as 429, or one of 3xx, 4xx, 5xx, timeout, connection`;
    }
    if (retryOn.indexOf(outcome) < at) return `${where}: is there twice`;
  }
  return null;
}
