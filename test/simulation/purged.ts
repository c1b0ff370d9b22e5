import { hold } from "./broken.ts";

/** Statuses in which nothing more is to be done. */
export const finished = ["Succeeded", "CriticalFailure", "Cancelled"];

/** An event, as far as purges look at it. */
export interface Purgeable {
  readonly tenantId: string;
  readonly destinationId: string;
  readonly acceptedAt: string;
  status: string;
  /** The place in the log of the fact that gave it the status it has. */
  movedIn: string;
  /** The place in the log of the fact by which it last left a status in which it was finished; "" where none did. */
  leftIn: string;
  /** When a purge took it, ms of the simulation. */
  purgedAt: number | null;
}

/** What there is to be purged, and the place in the log up to which each tenant's newest purge counted. */
interface World {
  readonly events: ReadonlyMap<string, Purgeable>;
  readonly tenants: ReadonlyMap<string, { purgedUpTo: string }>;
}

/** What the fact of a purge tells. */
export interface PurgeOrder {
  readonly purgeId: string;
  readonly tenantId: string;
  readonly before: string | null;
  readonly status: string | null;
  readonly destinationId: string | null;
  readonly upTo: string;
  readonly matched: number;
}

/** Takes away what a purge takes, now that its fact is durable; says whether it counted that. */
export function takeAway(order: PurgeOrder, { events, tenants }: World, now: number): void {
  const { purgeId, tenantId, before, status, destinationId, upTo, matched } = order;
  let [taken, left] = [0, 0];
  for (const event of events.values()) {
    if (event.tenantId !== tenantId || event.purgedAt !== null) continue;
    if (destinationId !== null && event.destinationId !== destinationId) continue;
    if (before !== null && event.acceptedAt >= before) continue;
    if (event.leftIn > upTo) left += 1;
    if (!finished.includes(event.status) || event.movedIn > upTo) continue;
    if (status !== null && event.status !== status) continue;
    event.purgedAt = now;
    taken += 1;
  }
  hold(matched >= taken && matched <= taken + left, "a purge counts what it takes", () =>
    `${purgeId}: ${matched}, but took ${taken}, and ${left} moved meanwhile`);
  const tenant = tenants.get(tenantId);
  if (tenant) tenant.purgedUpTo = upTo;
}
