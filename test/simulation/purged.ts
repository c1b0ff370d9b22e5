import { hold } from "./broken.ts";

/** Statuses without further work. */
export const finished = ["Succeeded", "CriticalFailure", "Cancelled"];

/** An event, as far as purges look at it. */
export interface Purgeable {
  readonly tenantId: string;
  readonly destinationId: string;
  readonly acceptedAt: string;
  status: string;
  /** The position of the fact that led to its present status. */
  movedIn: string;
  /** The position of the fact by which it last left a finished status; "" if it never did. */
  leftIn: string;
  /** When a purge took the event, ms of the simulation. */
  purgedAt: number | null;
}

/** A tenant, as far as purges look at it. */
export interface Purging {
  /** The position up to which its newest purge counted. */
  purgedUpTo: string;
  /** The times of requested purges without an answer, ms of the simulation; also those of crashed processes. */
  readonly purgesAsked: Set<number>;
}

/** A tenant without purges. */
export function neverPurged(): Purging {
  return { purgedUpTo: "", purgesAsked: new Set() };
}

/** The events and tenants that a purge may concern. */
interface World {
  readonly events: ReadonlyMap<string, Purgeable>;
  readonly tenants: ReadonlyMap<string, Purging>;
}

/** A purge that cannot count for this long may also count events that finished a little later. */
const patienceMs = 2_000;
/** A purge of this age has no waiting caller any more. */
const forgottenMs = 60_000;

/** The data of the fact of a purge. */
export interface PurgeOrder {
  readonly purgeId: string;
  readonly tenantId: string;
  readonly before: string | null;
  readonly status: string | null;
  readonly destinationId: string | null;
  readonly upTo: string;
  readonly matched: number;
}

/** Purges the events that a purge takes, once its fact is durable, and checks that it counted them. */
export function takeAway(order: PurgeOrder, { events, tenants }: World, now: number): void {
  const { purgeId, tenantId, before, status, destinationId, upTo, matched } = order;
  const tenant = tenants.get(tenantId);
  const asked = [...tenant?.purgesAsked ?? []].filter((at) => now - at < forgottenMs);
  const isExact = asked.length > 0 && asked.every((at) => now - at < patienceMs);
  let [taken, moved] = [0, 0];
  for (const event of events.values()) {
    if (event.tenantId !== tenantId || event.purgedAt !== null) continue;
    if (destinationId !== null && event.destinationId !== destinationId) continue;
    if (before !== null && event.acceptedAt >= before) continue;
    const isMeant = finished.includes(event.status) && (status === null || event.status === status);
    if (event.leftIn > upTo || (isMeant && event.movedIn > upTo && !isExact)) moved += 1;
    if (!isMeant || event.movedIn > upTo) continue;
    event.purgedAt = now;
    taken += 1;
  }
  hold(matched >= taken && matched <= taken + moved, "a purge counts the events it takes", () =>
    `${purgeId}: ${matched}, but took ${taken}, and ${moved} moved meanwhile`);
  if (tenant) tenant.purgedUpTo = upTo;
}
