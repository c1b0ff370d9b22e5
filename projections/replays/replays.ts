import { everyRecordedFilter, type FinishedStatus } from "../../src/features/events/facts.ts";
import type { ReplayState } from "../../src/features/replays/facts.ts";
import type { Actor } from "../../src/kernel/domain/domain-event.ts";
import type { Tags } from "../../src/kernel/domain/tags.ts";
import { tenantCounter, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, set, type Projection } from "../projection.ts";

/** A replay. */
export type ReplayDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly state: ReplayState;
  readonly settled: boolean;
  readonly matched: number;
  readonly done: number;
  readonly skipped: number;
  readonly destinationUrlId: string | null;
  readonly senderId: string | null;
  readonly eventType: string | null;
  readonly tag: string | null;
  readonly ids: readonly string[] | null;
  readonly status: readonly FinishedStatus[];
  readonly from: string | null;
  readonly to: string | null;
  readonly ownerId: string | null;
  readonly messageId: string | null;
  readonly correlationId: string | null;
  readonly tags: Tags | null;
  readonly finishedFrom: string | null;
  readonly finishedTo: string | null;
  readonly toDestinationUrlId: string | null;
  readonly perSecond: number;
  readonly actor: Actor;
  readonly startedAt: string;
  readonly finishedAt: string | null;
};

export const replaySortFields = ["id", "startedAt"] as const;

export const replays: Collection<ReplayDocument> = {
  name: "replays",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    state: "text",
    settled: "boolean",
    matched: "number",
    done: "number",
    skipped: "number",
    destinationUrlId: "id",
    senderId: "id",
    eventType: "text",
    tag: "text",
    ids: "json",
    status: "json",
    from: "time",
    to: "time",
    ownerId: "text",
    messageId: "id",
    correlationId: "text",
    tags: "json",
    finishedFrom: "time",
    finishedTo: "time",
    toDestinationUrlId: "id",
    perSecond: "json",
    actor: "json",
    startedAt: "time",
    finishedAt: "time",
  },
  indexes: [...replaySortFields.map((sort) => ["tenantId" as const, sort]), ["settled", "tenantId"]],
};

/** Lists replays with their progress; the worker finds the unsettled ones. */
export const replaysProjection: Projection = {
  name: "replays",
  version: 3,
  collections: [replays],
  on: {
    ReplayJobOrdered: ({ replayId: id, tenantId, at: startedAt, ...order }, { metadata: { actor } }) => [
      create(replays, {
        id, tenantId, state: "Running", settled: false, matched: order.matched, done: 0, skipped: 0,
        destinationUrlId: order.destinationId, senderId: order.senderId, eventType: order.eventType, tag: order.tag,
        ids: order.ids, status: order.statuses, from: order.from, to: order.to,
        ...everyRecordedFilter(order),
        toDestinationUrlId: order.toDestinationId, perSecond: order.perSecond, actor, startedAt, finishedAt: null,
      }),
      add(tenantCounter(replays, tenantId), 1),
    ],
    ReplayJobProgressed: ({ replayId, done, skipped }) => [set(replays, replayId, { done, skipped })],
    ReplayJobCancelled: ({ replayId, done, skipped }) => [
      set(replays, replayId, { state: "Cancelled", done, skipped }),
    ],
    ReplayJobFinished: ({ replayId, done, skipped, cancelledAt, at }) => [
      set(replays, replayId, {
        state: cancelledAt === null ? "Finished" : "Cancelled", settled: true, done, skipped,
        finishedAt: cancelledAt ?? at,
      }),
    ],
  },
};
