import type { WebhookEvent } from "../../domain/event/events.ts";
import { isFinished } from "../../domain/event/purge.ts";
import type { Metrics } from "../../ports/telemetry.ts";

/** Counts the event that these facts finish, unless it was finished already. */
export function countFinished(metrics: Pick<Metrics, "finished">, facts: readonly WebhookEvent[]): void {
  for (const { data } of facts) {
    if ("to" in data && isFinished(data.to) && !isFinished(data.from)) metrics.finished(data.to);
  }
}
