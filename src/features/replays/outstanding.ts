import { waiting } from "../../../projections/due/due.ts";
import { eventsCounter } from "../../../projections/events/counters.ts";
import { timestamp } from "../../kernel/domain/time.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";

/** A retry that is due within this time counts as work that is under way. */
const soonMs = 60_000;
const underWay = ["Pending", "Processing", "Failed"] as const;

/**
 * How many events of a destination are to be sent, are being sent, or have a retry that is due within a minute; of such
 * retries `most` are counted. Whoever put them to work: a replay makes way for all of them. Counters tell, however many
 * there are.
 */
export async function outstandingOf(
  readModels: Pick<ReadModels, "sum" | "keys">,
  { tenantId, destinationId }: { readonly tenantId: string; readonly destinationId: string },
  now: number,
  most: number,
): Promise<number> {
  const place = { tenantId, destinationUrlId: destinationId };
  const [retries, ...counts] = await Promise.all([
    readModels.keys({
      collection: waiting.name,
      where: { destinationId },
      range: { field: "dueAt", to: timestamp(now + soonMs) },
      order: { field: "dueAt", descending: false },
      limit: most,
    }),
    ...underWay.map((status) => readModels.sum(eventsCounter({ ...place, status }, "all"))),
  ]);
  return counts.reduce((sum, count) => sum + count, retries.length);
}
