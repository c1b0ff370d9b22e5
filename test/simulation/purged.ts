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

/** A tenant, as far as purges look at it. */
export interface Purging {
  /** The place in the log up to which its newest purge counted. */
  purgedUpTo: string;
  /** When those who wait for a purge asked for it, ms of the simulation; also those whose process has crashed. */
  readonly purgesAsked: Set<number>;
}

/** A tenant that nobody purged anything of. */
export function neverPurged(): Purging {
  return { purgedUpTo: "", purgesAsked: new Set() };
}

/** What there is to be purged. */
interface World {
  readonly events: ReadonlyMap<string, Purgeable>;
  readonly tenants: ReadonlyMap<string, Purging>;
}

/** Who finds no moment to count in for so long counts what finished a little later, too. */
const patienceMs = 2_000;
/** Nobody waits that long. */
const forgottenMs = 60_000;

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
  hold(matched >= taken && matched <= taken + moved, "a purge counts what it takes", () =>
    `${purgeId}: ${matched}, but took ${taken}, and ${moved} moved meanwhile`);
  if (tenant) tenant.purgedUpTo = upTo;
}
