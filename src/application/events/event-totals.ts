import type { EventFilter } from "../../../projections/events/events.ts";
import { planTotal } from "../../../projections/events/totals.ts";
import type { ReadModels } from "../../ports/read-models.ts";

/** How many events match a filter, without looking at each: counters tell, but for less than a minute at either end. */
export async function totalOf(readModels: Pick<ReadModels, "sum" | "count">, filter: EventFilter): Promise<number> {
  const { sums, counts } = planTotal(filter);
  const parts = await Promise.all([
    ...sums.map(({ scope, from, to }) => readModels.sum(scope, from, to)),
    ...counts.map((selection) => readModels.count(selection)),
  ]);
  return parts.reduce((sum, part) => sum + part, 0);
}
