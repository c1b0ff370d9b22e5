import type { Metrics } from "../../kernel/ports/telemetry.ts";
import type { WebhookEvent } from "../events/facts.ts";
import { isFinished } from "../events/purge.ts";

/** Counts the event that these facts finish, unless it was finished already. */
export function countFinished(metrics: Pick<Metrics, "finished">, facts: readonly WebhookEvent[]): void {
  for (const { data } of facts) {
    if ("to" in data && isFinished(data.to) && !isFinished(data.from)) metrics.finished(data.to);
  }
}
