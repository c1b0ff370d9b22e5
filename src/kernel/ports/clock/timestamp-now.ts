import { timestamp, type Timestamp } from "../../domain/time.ts";
import type { Clock } from "./clock.ts";

/** The wall clock's time, as facts tell it. */
export function timestampNow(clock: Pick<Clock, "now">): Timestamp {
  return timestamp(clock.now());
}
