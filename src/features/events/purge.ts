import { nullable, object, oneOf, text, time, uuid, type ObjectOf, type ValueOf } from "../../kernel/domain/schema.ts";
import type { EventStatus, Webhook, WebhookEvent } from "./facts.ts";

/** Statuses in which nothing is left to do. */
export const finishedStatuses = ["Succeeded", "CriticalFailure", "Cancelled"] as const satisfies readonly EventStatus[];
/** One of {@link finishedStatuses}: only events in these are ever purged. */
export type FinishedStatus = (typeof finishedStatuses)[number];

/** The fields of a {@link PurgeFilter}. */
export const purgeFilter = {
  before: nullable(time(), "Accepted before this time; null: whenever."),
  status: nullable(oneOf(finishedStatuses), "null: any in which nothing more is to be done."),
  destinationId: nullable(uuid(), "null: of every destination."),
};
/** Which finished events a purge takes; null: any. */
export type PurgeFilter = Readonly<ObjectOf<typeof purgeFilter>>;

/** The schema of a {@link Purge}. */
export const purge = object({
  id: uuid(), position: text("Its place in the log."),
  upTo: text("The place in the log up to which was counted what it takes."), ...purgeFilter,
});
/**
 * A purge that is under way. It takes the events that it counted: those that match its filter at the purge's own place
 * in the log (`position`), and had finished by the place up to which it counted (`upTo`).
 */
export type Purge = ValueOf<typeof purge>;

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
 * Whether one of the purges took the event of these facts. The event's state at the purge decides; later facts do not
 * count. A purge takes no event that begins after it, not even under the same id.
 */
export function isPurged(purges: readonly Purge[], facts: readonly Placed[]): boolean {
  // Each fact that changes the event's status repeats all fields that a purge filters by.
  const moves = facts.flatMap(({ data, position }) =>
    "to" in data && data.from !== data.to ? [{ data, position }] : []);
  return purges.some((purge) => {
    const last = moves.findLast(({ position }) => position < purge.position);
    return last !== undefined && last.position <= purge.upTo && isMeant(purge, { ...last.data, status: last.data.to });
  });
}
