import { everyRecordedFilter, finishedStatuses } from "../../src/features/events/facts.ts";
import type { Purge, PurgeFilter } from "../../src/features/purges/facts.ts";
import { millis, timestamp } from "../../src/kernel/domain/time.ts";
import type { Change, Selection, Collection } from "../../src/kernel/ports/read-models.ts";
import { leases } from "../due/due.ts";
import { uncounted } from "../events/counters.ts";
import {
  events, eventsSelected, isDocumentSelected, recordedSelection, type EventDocument, type EventFilter,
} from "../events/events.ts";
import { messageIdOf, unlabelled } from "../events/labels.ts";
import { lateFinishes } from "../events/late-finishes.ts";
import { unreplayed, type ReplayedEventDocument } from "../events/replayed-events.ts";
import { affectedEvents } from "../incidents/incidents.ts";
import { messages, type MessageDocument } from "../messages/messages.ts";
import { create, remove, set, put, type Projection } from "../projection.ts";

/** What a fact lacks is null in a document. */
type FieldOf<Value> = undefined extends Value ? Exclude<Value, undefined> | null : Value;

/** A purge, until it is finished. */
export type PurgeDocument = { readonly [Field in keyof Purge]-?: FieldOf<Purge[Field]> } & {
  readonly tenantId: string;
  readonly hiding: boolean;
  readonly completed: boolean;
};

/** An event of a purge, its stream perhaps not deleted yet; or a message without deliveries. */
export type PurgingDocument = {
  readonly eventId: string;
  readonly purgeId: string;
  /** The message that it delivers; null for any other event. */
  readonly messageId: string | null;
};

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
    senderId: "id",
    eventType: "text",
    ownerId: "text",
    messageId: "id",
    correlationId: "text",
    tags: "json",
    finishedFrom: "time",
    finishedTo: "time",
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
  fields: { eventId: "id", purgeId: "id", messageId: "id" },
  indexes: [["purgeId"]],
};

/** Records the begin and the end of a purge; the projection runner does the work in between. */
export const purgesProjection: Projection = {
  name: "purges",
  version: 4,
  collections: [purges, purging],
  on: {
    EventsPurged: ({ purgeId: id, tenantId, before, status, destinationId, upTo, ...further }, { position }) => [
      create(purges, {
        id,
        tenantId,
        before,
        status,
        destinationId,
        senderId: further.senderId ?? null,
        eventType: further.eventType ?? null,
        ...everyRecordedFilter(further),
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
  { tenantId, before, status, destinationId, senderId, eventType, ...recorded }: { readonly tenantId: string }
    & { readonly [Field in keyof PurgeFilter]: FieldOf<PurgeFilter[Field]> },
): EventFilter[] {
  const statuses = status === null ? finishedStatuses : [status];
  const to = before === null ? undefined : timestamp(millis(before) - 1);
  return statuses.map((one) => ({
    ...recordedSelection(recorded), tenantId, statuses: [one], destinationUrlId: destinationId ?? undefined,
    senderId: senderId ?? undefined, eventType: eventType ?? undefined, to,
  }));
}

/** The selections that together hold a purge's events, each in the order of acceptance. */
export function candidatesOf(purge: PurgeDocument): Selection[] {
  return eventsMeant(purge).map(eventsSelected);
}

/** Whether a purge took the event of a document, as it was at the purge: it matches, and had finished in time. */
export function isTaken(purge: PurgeDocument, event: EventDocument): boolean {
  const { finishedIn } = event;
  const finished = finishedIn !== null && finishedIn <= purge.upTo;
  return finished && eventsMeant(purge).some((filter) => isDocumentSelected(filter, event));
}

/** Other documents that are left of an event: its leases, and its places in replays. */
export interface Remains {
  readonly leaseKeys: readonly string[];
  readonly replayed: readonly ReplayedEventDocument[];
}

/** Hides an event, drops its remains, and remembers that its stream must be deleted. */
export function hidden(event: EventDocument, purge: PurgeDocument, { leaseKeys, replayed }: Remains): Change[] {
  return [
    ...gone(event, replayed),
    create(purging, { eventId: event.id, purgeId: purge.id, messageId: messageIdOf(event) }),
    ...leaseKeys.map((key) => remove(leases, key)),
  ];
}

/** Hides a message without deliveries, as {@link hidden} does. */
export function hiddenMessage({ id }: MessageDocument, purge: PurgeDocument): Change[] {
  return [remove(messages, id), create(purging, { eventId: id, purgeId: purge.id, messageId: null })];
}

/** Whether a purge took a message without deliveries: it counts as Succeeded, and has no destination. */
export function isMessageTaken(purge: PurgeDocument, message: MessageDocument): boolean {
  const { before, status, senderId, eventType, ownerId, upTo } = purge;
  const others = [
    purge.destinationId, purge.messageId, purge.correlationId, purge.tags, purge.finishedFrom, purge.finishedTo,
  ];
  return message.acceptedIn <= upTo && others.every((value) => value === null)
    && (status === null || status === "Succeeded") && (before === null || message.acceptedAt < before)
    && (senderId === null || senderId === message.senderId) && (ownerId === null || ownerId === message.ownerId)
    && (eventType === null || eventType === message.eventType);
}

function gone(event: EventDocument, replayed: Remains["replayed"]): Change[] {
  return [
    remove(events, event.id), remove(lateFinishes, event.id), remove(affectedEvents, event.id), ...unlabelled(event),
    ...replayed.flatMap(unreplayed), ...uncounted(event),
  ];
}

/** Makes room for an event with the id of a purged one; `before`: the earlier event, if lists still show it. */
export function begunAgain(
  eventId: string, before: EventDocument | null, replayed: Remains["replayed"],
): Change[] {
  return [...(before ? gone(before, replayed) : []), remove(purging, eventId)];
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
