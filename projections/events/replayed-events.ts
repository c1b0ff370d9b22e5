import { greatestEventId, leastEventId } from "../../src/kernel/domain/event-id.ts";
import type { Change, Collection, Query } from "../../src/kernel/ports/read-models.ts";
import { add, create, remove } from "../projection.ts";

/** An event that a replay in the background sent. */
export type ReplayedEventDocument = {
  /** `<tenantId>/<replayId>/<eventId>` */
  readonly key: string;
  readonly tenantId: string;
  readonly replayId: string;
  readonly eventId: string;
};

/** The events of each replay in the background, by acceptance. An event may be sent by several replays. */
export const replayedEvents: Collection<ReplayedEventDocument> = {
  name: "replayedEvents",
  key: "key",
  fields: { key: "text", tenantId: "id", replayId: "id", eventId: "id" },
  indexes: [["tenantId"], ["eventId"]],
};

interface Sent {
  readonly tenantId: string;
  readonly eventId: string;
  readonly replayId?: string | undefined;
}

function keyOf(tenantId: string, replayId: string, eventId: string): string {
  return `${tenantId}/${replayId}/${eventId}`;
}

/** The scope whose one counter is the number of events that a replay sent. */
export function replayedCounter(tenantId: string, replayId: string): string {
  return `${replayedEvents.name}/${tenantId}/${replayId}`;
}

/** Stores an event among those of the replay that sends it, if one does. */
export function replayed({ tenantId, eventId, replayId }: Sent): Change[] {
  if (replayId === undefined) return [];
  const key = keyOf(tenantId, replayId, eventId);
  return [
    create(replayedEvents, { key, tenantId, replayId, eventId }), add(replayedCounter(tenantId, replayId), 1),
  ];
}

/** Removes an event from those of a replay. */
export function unreplayed({ key, tenantId, replayId }: ReplayedEventDocument): Change[] {
  return [remove(replayedEvents, key), add(replayedCounter(tenantId, replayId), -1)];
}

/** The range of events that a replay sent; the id of the event ends each key. */
export function eventsReplayed(
  tenantId: string, replayId: string, { from, to }: { readonly from?: string; readonly to?: string },
  descending: boolean,
): Omit<Query, "limit"> {
  const [least, greatest] = [from ?? leastEventId(0), to ?? greatestEventId(Infinity)];
  return {
    collection: replayedEvents.name,
    range: {
      field: replayedEvents.key, from: keyOf(tenantId, replayId, least), to: keyOf(tenantId, replayId, greatest),
    },
    order: { field: replayedEvents.key, descending },
  };
}
