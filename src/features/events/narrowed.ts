import type { EventFilter } from "../../../projections/events/events.ts";
import type { EventListFilter } from "./queries.ts";
import { loadShownByKey } from "./webhooks.ts";

/**
 * The filter of a walk over documents, for events with an idempotency key, too: only the moment in which its event was
 * accepted is left. Null where no event has the key. Throws as {@link loadShownByKey} does.
 */
export async function narrowed(
  sources: Parameters<typeof loadShownByKey>[0], filter: EventFilter & EventListFilter,
): Promise<(EventFilter & EventListFilter) | null> {
  const { tenantId, idempotencyKey, from = "", to } = filter;
  if (idempotencyKey === undefined) return filter;
  const found = await loadShownByKey(sources, tenantId, idempotencyKey);
  if (!found) return null;
  const { acceptedAt: at } = found;
  return { ...filter, from: from > at ? from : at, to: to !== undefined && to < at ? to : at };
}
