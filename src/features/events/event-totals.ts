import { planTotal } from "../../../projections/events/counters.ts";
import { eventsSelected, isPlain, type EventFilter } from "../../../projections/events/events.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import { matchingIds } from "./matching-ids.ts";

type Asked = Pick<ReadModels, "sum" | "count" | "keys">;

/** Runs one step of a walk over many events, when it is its turn. */
export type Stepping = <Result>(step: () => Promise<Result>) => Promise<Result>;

const atOnce: Stepping = (step) => step();

/**
 * How many events match a filter. Without labels in the filter no event is looked at: counters tell, but for less than
 * a minute at either end. With labels the ids of all that match are walked.
 */
export async function totalOf(readModels: Asked, filter: EventFilter, stepping: Stepping = atOnce): Promise<number> {
  if (!isPlain({ ...filter, test: undefined })) return walked(readModels, filter, stepping);
  const { sums, counts } = planTotal(filter);
  const parts = await Promise.all([
    ...sums.map(({ scope, from, to }) => readModels.sum(scope, from, to)),
    ...counts.map((part) => counted(readModels, part, stepping)),
  ]);
  return parts.reduce((sum, part) => sum + part, 0);
}

/** Counts events of less than a minute. Test events are few, and have a label: they are counted apart. */
async function counted(readModels: Asked, filter: EventFilter, stepping: Stepping): Promise<number> {
  const { test, ...rest } = filter;
  if (test === true) return walked(readModels, filter, stepping);
  const all = await readModels.count(eventsSelected(rest));
  return test === undefined ? all : all - await walked(readModels, { ...rest, test: true }, stepping);
}

/** Counts events by walking their ids. No index has all but the test events: these are walked and taken off. */
async function walked(readModels: Asked, filter: EventFilter, stepping: Stepping): Promise<number> {
  const { test, ...rest } = filter;
  if (test === false) {
    const all = await walked(readModels, rest, stepping);
    return all === 0 ? 0 : all - await walked(readModels, { ...rest, test: true }, stepping);
  }
  const pages = matchingIds(readModels, { filter, descending: false });
  for (let total = 0; ;) {
    const { value: page } = await stepping(() => pages.next());
    if (!page) return total;
    total += page.length;
  }
}
