import type { DataOf, Metadata } from "../../kernel/domain/domain-event.ts";
import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import {
  integer, list, nullable, optional, text, uuid, object, oneOf, time, type ObjectOf, type ValueOf,
} from "../../kernel/domain/schema.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { AggregateType } from "../../kernel/log/aggregates.ts";
import { type Webhook, type WebhookEvent, finishedStatuses, isFinished, recordedFilter } from "../events/facts.ts";

export const purgeFilter = {
  before: nullable(time(), "Accepted before this time; null: whenever."),
  status: nullable(oneOf(finishedStatuses), "null: any in which nothing more is to be done."),
  destinationId: nullable(uuid(), "null: of every destination."),
  senderId: optional(uuid("Only events that came through this sender.")),
  eventType: optional(text("Only events of this type.")),
  ...recordedFilter,
};

/** Which finished events a purge takes; null: any. */
export type PurgeFilter = Readonly<ObjectOf<typeof purgeFilter>>;

export const purge = object({
  id: uuid(), position: text("Its place in the log."),
  upTo: text("The place in the log up to which was counted what it takes."), ...purgeFilter,
});

/** A purge under way: it takes the events that matched at its own `position` and had finished by `upTo`. */
export type Purge = ValueOf<typeof purge>;

/** The purges of a tenant; every fact of a `purges-<tenantId>` stream carries those under way. */
export interface Purges {
  /** Purges whose events are hidden but not yet all deleted from the log, oldest first. */
  readonly underWay: readonly Purge[];
  /** The place in the log of the newest fact; before every other where there is none. */
  readonly newest: string;
}

const told = ["tenantId", "at"] as const;

/** Facts about a tenant's purges; each carries the whole state from then on. */
export const purgesFacts = {
  EventsPurged: fact({
    data: {
      purgeId: uuid(), tenantId: uuid(), ...purgeFilter,
      upTo: nullable(
        text(),
        "The place in the log up to which they were counted: what finished later stays. null, in facts of older "
          + "programs: the place of this fact.",
      ),
      matched: integer(
        0,
        "How many events that were. What was replayed, or settled by a late outcome, between that place and this "
          + "fact is counted, and stays.",
      ),
      earlier: list(purge, "The purges under way before this one, oldest first."),
      at,
    },
    upcasters: [
      (data) => ({ ...data, earlier: [] }),
      (data) => ({ ...data, upTo: null, earlier: upToTheirPlaces(data["earlier"]) }),
    ],
    meaning: "Finished events that match the filter were purged.",
    words: "ordered a purge of {matched:events}",
    shown: [
      ...told, "purgeId", "before", "status", "destinationId", "senderId", "eventType", "ownerId", "messageId",
      "correlationId", "tags", "finishedFrom", "finishedTo", "matched",
    ],
    audit: "purge",
    example: {
      tenantId: examples.tenantId, purgeId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e0e", before: "2026-01-01T00:00:00.000Z",
      status: null, destinationId: null, matched: 42, at: examples.at,
    },
  }),
  PurgeCompleted: fact({
    data: { purgeId: uuid(), tenantId: uuid(), left: list(purge, "The purges still under way, oldest first."), at },
    upcasters: [
      (data) => ({ ...data, left: [] }),
      (data) => ({ ...data, left: upToTheirPlaces(data["left"]) }),
    ],
    meaning: "All events of a purge are deleted from storage.",
    words: "completed a purge",
    shown: [...told, "purgeId"],
    audit: false,
  }),
};
export type PurgesEvent = EventsOf<typeof purgesFacts>;

/** Purges of an older version, each of which took the events that had finished by its own place in the log. */
function upToTheirPlaces(purges: unknown): object[] {
  return (purges as readonly Purge[]).map((purge) => ({ ...purge, upTo: purge.position }));
}

/** Commands to a tenant's purges. */
export type PurgesCommand =
  | {
      readonly type: "PurgeEvents";
      readonly tenantId: string;
      readonly purgeId: string;
      readonly filter: PurgeFilter;
      /** The place in the log up to which `matched` was counted. */
      readonly upTo: string;
      readonly matched: number;
      readonly at: Timestamp;
    }
  | { readonly type: "CompletePurge"; readonly tenantId: string; readonly purgeId: string; readonly at: Timestamp };

/** Purges of a tenant that may be under way at once: each fact repeats them all. */
const mostUnderWay = 100;

/** The purges of a tenant that never had one. */
export const noPurges: Purges = { underWay: [], newest: "" };

/** The newest fact is the state; `position` is its place in the log. */
export function evolve(_state: Purges | undefined, event: PurgesEvent, position = ""): Purges {
  if (event.type === "PurgeCompleted") return { underWay: event.data.left, newest: position };
  const { purgeId: id, tenantId: _tenant, upTo, matched: _matched, earlier, at: _at, ...filter } = event.data;
  const purge = { id, position, upTo: upTo ?? position, ...filter };
  return { underWay: [...earlier, purge], newest: position };
}

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal (unavailable). */
export function decide({ underWay }: Purges, command: PurgesCommand): PurgesEvent[] {
  const { tenantId, purgeId, at } = command;
  if (command.type === "CompletePurge") {
    const left = underWay.filter(({ id }) => id !== purgeId);
    if (left.length === underWay.length) return [];
    return [{ type: "PurgeCompleted", data: { purgeId, tenantId, left, at } }];
  }
  if (underWay.length >= mostUnderWay) refuse("unavailable", "too many purges are under way; try again");
  const { filter, upTo, matched } = command;
  return [{ type: "EventsPurged", data: { purgeId, tenantId, ...filter, upTo, matched, earlier: underWay, at } }];
}

/** Purges by the id of their tenant; undefined means {@link noPurges}. */
export const purges: AggregateType<Purges, PurgesEvent> = {
  category: "purges",
  stream: streams.purges,
  evolve,
  whole: true,
};

/** A fact and its place in the log; places compare as texts. */
export type Placed = WebhookEvent & { readonly position: string; readonly metadata: Pick<Metadata, "correlationId"> };

/** Whether an event, as it stands, matches a filter by status, destination and acceptance. */
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

/** Whether an event matches all else of a filter. */
function isOfKind(
  { senderId, eventType, ownerId, messageId, correlationId, tags = {}, finishedFrom, finishedTo }: PurgeFilter,
  { data, metadata }: Placed, finishedAt: string,
): boolean {
  const accepted = data as Partial<DataOf<WebhookEvent, "EventAccepted">>;
  return (
    (messageId === undefined || accepted.messageId === messageId) &&
    (finishedFrom === undefined || finishedAt >= finishedFrom) &&
    (finishedTo === undefined || finishedAt <= finishedTo) &&
    (senderId === undefined || accepted.senderId === senderId) &&
    (eventType === undefined || accepted.eventType === eventType) &&
    (ownerId === undefined || accepted.ownerId === ownerId) &&
    (correlationId === undefined || metadata.correlationId === correlationId) &&
    Object.entries(tags).every(([name, value]) => accepted.tags?.[name] === value)
  );
}

/** Whether one of the purges took the event of these facts, by its state at the purge. */
export function isPurged(purges: readonly Purge[], facts: readonly Placed[]): boolean {
  const [first] = facts;
  if (!first) return false;
  // Each fact that changes the event's status repeats all other fields that a purge filters by.
  const moves = facts.flatMap(({ data, position }) =>
    "to" in data && data.from !== data.to ? [{ data, position }] : []);
  return purges.some((purge) => {
    const last = moves.findLast(({ position }) => position < purge.position);
    return last !== undefined && last.position <= purge.upTo
      && isMeant(purge, { ...last.data, status: last.data.to }) && isOfKind(purge, first, last.data.at);
  });
}
