import type { PrometheusMetrics } from "../adapters/prometheus/prometheus-metrics.ts";
import { millis } from "../domain/time.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventLog } from "../ports/event-store.ts";
import type { ReadModels } from "../ports/read-models.ts";

/** Puts what waits, and how far the read models are, on `/metrics`. */
export function watchBacklog(
  metrics: PrometheusMetrics,
  { readModels, clock }: { readonly store: EventLog; readonly readModels: ReadModels; readonly clock: Clock },
): void {
  metrics.watch({
    oldestDueSeconds: async () => {
      const order = { field: "dueAt", descending: false };
      const [first] = await readModels.find({ collection: "waiting", where: { first: true }, order, limit: 1 });
      const [again] = await readModels.find({ collection: "waiting", where: { first: false }, order, limit: 1 });
      const due = [first, again].flatMap((document) => (document ? [millis(document["dueAt"] as string)] : []));
      return due.length === 0 ? 0 : Math.max(0, clock.now() - Math.min(...due)) / 1000;
    },
  });
}
