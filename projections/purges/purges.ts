import { finishedStatuses } from "../../src/features/events/facts.ts";
import { isMeant, type Purge, type PurgeFilter } from "../../src/features/purges/facts.ts";
import { millis, timestamp } from "../../src/kernel/domain/time.ts";
import type { Change, Selection, Collection } from "../../src/kernel/ports/read-models.ts";
import { leases } from "../due/due.ts";
import { uncounted } from "../events/counters.ts";
import { events, eventsSelected, type EventDocument, type EventFilter } from "../events/events.ts";
import { unlabelled } from "../events/labels.ts";
import { affectedEvents } from "../incidents/incidents.ts";
import { create, remove, set, put, type Projection } from "../projection.ts";

/** A purge, until it is finished. */
export type PurgeDocument = { readonly [Field in keyof Purge]: Purge[Field] } & {
  readonly tenantId: string;
  readonly hiding: boolean;
  readonly completed: boolean;
};

/** An event that a purge took and whose stream may not be deleted yet. */
export type PurgingDocument = { readonly eventId: string; readonly purgeId: string };

/** A tenant's retention in days. */
export type RetentionDocument = {
  readonly tenantId: string;
  readonly retentionDays: number;
};

/** Unfinished purges: few. */
export const purges: Collection<PurgeDocument> = {
  name: "purges",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    before: "time",
    status: "text",
    destinationId: "id",
    position: "text",
    upTo: "text",
    hiding: "boolean",
    completed: "boolean",
  },
  indexes: [
    ["tenantId"],
    ["hiding", "completed"],
  ],
};

/** Hidden events whose streams are not deleted yet. */
export const purging: Collection<PurgingDocument> = {
  name: "purging",
  key: "eventId",
  fields: { eventId: "id", purgeId: "id" },
  indexes: [["purgeId"]],
};

/** Records the begin and the end of a purge; the projection runner does the work in between. */
export const purgesProjection: Projection = {
  name: "purges",
  version: 2,
  collections: [purges, purging],
  on: {
    EventsPurged: ({ purgeId: id, tenantId, before, status, destinationId, upTo }, { position }) => [
      create(purges, {
        id,
        tenantId,
        before,
        status,
        destinationId,
        position,
        upTo: upTo ?? position,
        hiding: true,
        completed: false,
      }),
    ],
    PurgeCompleted: ({ purgeId }) => [set(purges, purgeId, { completed: true })],
  },
};

/** The events that match a purge's filter, as filters of lists: one for each status. */
export function eventsMeant(
  { tenantId, before, status, destinationId }: Pick<PurgeDocument, "tenantId"> & PurgeFilter,
): EventFilter[] {
  const statuses = status === null ? finishedStatuses : [status];
  const to = before === null ? undefined : timestamp(millis(before) - 1);
  return statuses.map((one) => ({ tenantId, statuses: [one], destinationUrlId: destinationId ?? undefined, to }));
}

/** The selections that together hold a purge's events, each in the order of acceptance. */
export function candidatesOf(purge: PurgeDocument): Selection[] {
  return eventsMeant(purge).map(eventsSelected);
}

/** Whether a purge took the event of a document, as it was at the purge: it matches, and had finished in time. */
export function isTaken(purge: PurgeDocument, event: EventDocument): boolean {
  const { tenantId, destinationUrlId: destinationId, finishedIn } = event;
  const finished = finishedIn !== null && finishedIn <= purge.upTo;
  return finished && tenantId === purge.tenantId && isMeant(purge, { ...event, destinationId });
}

/** Hides an event, drops the leases that were left of it, and remembers that its stream must be deleted. */
export function hidden(event: EventDocument, purge: PurgeDocument, leaseKeys: readonly string[]): Change[] {
  return [
    ...gone(event),
    create(purging, { eventId: event.id, purgeId: purge.id }),
    ...leaseKeys.map((key) => remove(leases, key)),
  ];
}

function gone(event: EventDocument): Change[] {
  return [
    remove(events, event.id), remove(affectedEvents, event.id), ...unlabelled(event), ...uncounted(event),
  ];
}

/** Makes room for an event with the id of a purged one; `before`: the earlier event, if lists still show it. */
export function begunAgain(eventId: string, before: EventDocument | null): Change[] {
  return [...(before ? gone(before) : []), remove(purging, eventId)];
}

export const retention: Collection<RetentionDocument> = {
  name: "retention",
  key: "tenantId",
  fields: { tenantId: "id", retentionDays: "number" },
  indexes: [],
};

export const retentionProjection: Projection = {
  name: "retention",
  version: 2,
  collections: [retention],
  on: {
    TenantRetentionChanged: ({ tenantId, retentionDays }) => [
      retentionDays === null ? remove(retention, tenantId) : put(retention, { tenantId, retentionDays }),
    ],
  },
};
