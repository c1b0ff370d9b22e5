import type { Timestamp } from "../time.ts";
import type { EventStatus, WebhookEvent } from "./events.ts";
import type { Webhook } from "./state.ts";

/** Statuses in which nothing is left to do. */
export const finishedStatuses = ["Succeeded", "CriticalFailure", "Cancelled"] as const satisfies readonly EventStatus[];
/** One of {@link finishedStatuses}: only events in these are ever purged. */
export type FinishedStatus = (typeof finishedStatuses)[number];

/** Which finished events a purge takes; null: any. */
export interface PurgeFilter {
  /** Accepted before this time. */
  readonly before: Timestamp | null;
  readonly status: FinishedStatus | null;
  readonly destinationId: string | null;
}

/**
 * A purge that is under way. It takes what was counted: what matches its filter at the purge's own place in the log
 * (`position`), and had finished by the place up to which it was counted (`upTo`).
 */
export interface Purge extends PurgeFilter {
  readonly id: string;
  readonly position: string;
  readonly upTo: string;
}

/** A fact and its place in the log; places compare as texts. */
export type Placed = WebhookEvent & { readonly position: string };

/** Whether an event of this status is finished. */
export function isFinished(status: EventStatus): status is FinishedStatus {
  return (finishedStatuses as readonly EventStatus[]).includes(status);
}

/** Whether an event, as it stands, matches a filter. */
export function isMeant(
  { before, status, destinationId }: PurgeFilter,
  event: Pick<Webhook, "status" | "acceptedAt" | "destinationId">,
): boolean {
  return (
    isFinished(event.status) &&
    (status === null || event.status === status) &&
    (destinationId === null || event.destinationId === destinationId) &&
    (before === null || event.acceptedAt < before)
  );
}

/**
 * Whether one of the purges took the event these facts tell of: as it stood at the purge, whatever came
 * after. What begins after a purge, under the same id or not, is none of that purge's.
 */
export function isPurged(purges: readonly Purge[], facts: readonly Placed[]): boolean {
  // Each fact that moves the event to another status repeats all that a purge goes by.
  const moves = facts.flatMap(({ data, position }) =>
    "to" in data && data.from !== data.to ? [{ data, position }] : []);
  return purges.some((purge) => {
    const last = moves.findLast(({ position }) => position < purge.position);
    return last !== undefined && last.position <= purge.upTo && isMeant(purge, { ...last.data, status: last.data.to });
  });
}
