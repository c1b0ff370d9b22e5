import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import {
  anyText, integer, list, nullable, number, oneOf, optional, text, time, uuid, type ObjectOf,
} from "../../kernel/domain/schema.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import { finishedStatuses, recordedFilter } from "../events/facts.ts";

const filter = {
  destinationId: nullable(uuid(), "null: of every destination."),
  senderId: nullable(uuid(), "null: of every sender, and of none."),
  eventType: nullable(anyText(), "Events of this type; null: of any."),
  tag: nullable(anyText(), "Events with this tag, `name:value`; null: with any."),
  ids: nullable(list(uuid()), "The events with these ids, in ascending order; null: whatever their ids."),
  statuses: list(oneOf(finishedStatuses), "Events in these statuses."),
  from: nullable(time(), "Accepted from this time; null: whenever."),
  to: nullable(time(), "Accepted up to this time; null: whenever."),
  ...recordedFilter,
};
/** Which of a tenant's events a replay takes; times of acceptance, both inclusive, null for any. */
export type ReplayJobFilter = Readonly<ObjectOf<typeof filter>>;

const order = {
  ...filter,
  toDestinationId: nullable(
    uuid(),
    "The destination to which each event's payload goes as a new event; null: the events themselves are sent "
      + "again.",
  ),
  perSecond: number(0.1, "How many events are put to work in a second at most."),
  upTo: anyText("The place in the log up to which was counted what it takes."),
  matched: integer(0, "How many events matched then."),
};
/** What a replay is to do. It takes the events that matched its filter, and were finished, at `upTo`. */
export type ReplayOrder = Readonly<ObjectOf<typeof order>>;

const progress = {
  done: integer(0, "How many events were put to work."),
  skipped: integer(
    0,
    "How many events that matched were passed over. Those that are not met any more count only in the end.",
  ),
  cursor: nullable(uuid(), "Every event up to this id is settled or in the batch; null before the first."),
  batch: list(
    uuid(),
    "The ids of the events that are next, in the order of acceptance; some may have been put to work since.",
  ),
};
/** How far a replay has come. */
export type ReplayProgress = Readonly<ObjectOf<typeof progress>>;

/** A replay's state, as the API spells it. */
export type ReplayState = "Running" | "Finished" | "Cancelled";

/** A replay that runs in the background. */
export interface ReplayJob {
  readonly id: string;
  readonly tenantId: string;
  readonly order: ReplayOrder;
  readonly progress: ReplayProgress;
  readonly state: ReplayState;
  /** Whether all is counted: a cancelled one may still have put some events to work since its last progress. */
  readonly settled: boolean;
  readonly startedAt: Timestamp;
  readonly cancelledAt: Timestamp | null;
  /** Once it is settled: when it was cancelled, or came to its end. */
  readonly finishedAt: Timestamp | null;
}

const told = ["tenantId", "at"] as const;

/** Facts of a `replay-<id>` stream. The first and the newest together hold the whole state. */
export const replayJobFacts = {
  ReplayJobOrdered: fact({
    data: { replayId: uuid(), tenantId: uuid(), ...order, at },
    meaning: "A replay in the background was ordered. Each event that it sends again has an EventReplayed.",
    words: "ordered a replay of {matched:events}",
    shown: [
      ...told, "replayId", "destinationId", "senderId", "eventType", "tag", "ids", "statuses", "from", "to",
      "ownerId", "messageId", "correlationId", "tags", "finishedFrom", "finishedTo", "toDestinationId",
      "perSecond", "matched",
    ],
    audit: "replay",
  }),
  ReplayJobProgressed: fact({
    data: { replayId: uuid(), tenantId: uuid(), ...progress, at },
    meaning: "A replay in the background put events to work.",
    words: "has replayed {done:events}, {skipped} skipped",
    shown: [...told, "replayId", "done", "skipped"],
    audit: false,
  }),
  // Nothing more is put to work. The events of the batch are still to be counted.
  ReplayJobCancelled: fact({
    data: { replayId: uuid(), tenantId: uuid(), ...progress, at },
    meaning: "A replay in the background was cancelled.",
    words: "cancelled a replay after {done:events}, {skipped} skipped",
    shown: [...told, "replayId", "done", "skipped"],
    audit: "replay",
  }),
  ReplayJobFinished: fact({
    data: {
      replayId: uuid(), tenantId: uuid(),
      done: integer(0, "How many events were put to work."),
      skipped: integer(0, "How many events that matched were passed over: all others."),
      cancelledAt: nullable(time(), "When it was cancelled; null where it ran to its end."),
      at,
    },
    meaning: "A replay in the background is over, and counted.",
    words: "finished a replay of {done:events}, {skipped} skipped",
    shown: [...told, "replayId", "done", "skipped", "cancelledAt"],
    audit: false,
  }),
};
export type ReplayJobEvent = EventsOf<typeof replayJobFacts>;

const failedFilter = {
  destinationId: nullable(uuid(), "null: of every destination."),
  from: nullable(time(), "Accepted from this time; null: whenever."),
  to: nullable(time(), "Accepted up to this time; null: whenever."),
  senderId: optional(uuid("Only events that came through this sender.")),
  eventType: optional(text("Only events of this type.")),
  ...recordedFilter,
};

/** Which of a tenant's events in CriticalFailure are meant; times of acceptance, both inclusive, null for any. */
export type ReplayFilter = Readonly<ObjectOf<typeof failedFilter>>;

/** Facts of a `replays-<tenantId>` stream: one for each replay request. Each event has its own EventReplayed. */
export const replaysFacts = {
  ReplayOrdered: fact({
    data: {
      replayId: uuid(), tenantId: uuid(), ...failedFilter,
      matched: integer(0, "How many events the filter matched when it began."),
      at,
    },
    meaning: "A bulk replay began. Each event that it replays has an EventReplayed.",
    words: "ordered a replay of {matched:events}",
    shown: [
      ...told, "replayId", "destinationId", "senderId", "eventType", "from", "to", "ownerId", "messageId",
      "correlationId", "tags", "finishedFrom", "finishedTo", "matched",
    ],
    audit: "replay",
    example: {
      tenantId: examples.tenantId, replayId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e0f",
      destinationId: examples.destinationId, from: null, to: null, matched: 42, at: examples.at,
    },
  }),
  ReplayCompleted: fact({
    data: {
      replayId: uuid(), tenantId: uuid(),
      replayed: integer(
        0,
        "How many were put back to work: less than matched where others were first or some cannot be, more where "
          + "others were given up meanwhile.",
      ),
      at,
    },
    meaning: "A bulk replay finished.",
    words: "completed a replay of {replayed:events}",
    shown: [...told, "replayId", "replayed"],
    audit: "replay",
  }),
};

export type ReplaysEvent = EventsOf<typeof replaysFacts>;

/** Commands to a replay. */
export type ReplayJobCommand =
  | {
      readonly type: "Order"; readonly replayId: string; readonly tenantId: string; readonly order: ReplayOrder;
      readonly at: Timestamp;
    }
  | { readonly type: "Progress"; readonly progress: ReplayProgress; readonly at: Timestamp }
  | { readonly type: "Cancel"; readonly at: Timestamp }
  /** `done`: all events that were put to work. */
  | { readonly type: "Finish"; readonly done: number; readonly at: Timestamp };

const nothingDone: ReplayProgress = { done: 0, skipped: 0, cursor: null, batch: [] };

/** Folds one fact in. A fact between the first and the newest may be left out. */
export function evolve(job: ReplayJob | undefined, event: ReplayJobEvent): ReplayJob | undefined {
  if (event.type === "ReplayJobOrdered") {
    const { replayId: id, tenantId, at: startedAt, ...order } = event.data;
    return {
      id, tenantId, order, progress: nothingDone, state: "Running", settled: false, startedAt, cancelledAt: null,
      finishedAt: null,
    };
  }
  if (!job) return job;
  if (event.type === "ReplayJobFinished") {
    const { done, skipped, cancelledAt, at } = event.data;
    const progress = { done, skipped, cursor: null, batch: [] };
    const state = cancelledAt === null ? "Finished" : "Cancelled";
    return { ...job, progress, state, settled: true, cancelledAt, finishedAt: cancelledAt ?? at };
  }
  const { done, skipped, cursor, batch, at } = event.data;
  const progress = { done, skipped, cursor, batch };
  return event.type === "ReplayJobProgressed"
    ? { ...job, progress }
    : { ...job, progress, state: "Cancelled", cancelledAt: at };
}

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(job: ReplayJob | undefined, command: ReplayJobCommand): ReplayJobEvent[] {
  const { at } = command;
  if (command.type === "Order") {
    if (job) refuse("conflict", "the replay exists already");
    const { replayId, tenantId, order } = command;
    return [{ type: "ReplayJobOrdered", data: { replayId, tenantId, ...order, at } }];
  }
  if (!job) refuse("not-found", "replay not found");
  const about = { replayId: job.id, tenantId: job.tenantId, at };
  switch (command.type) {
    case "Progress":
      if (job.state !== "Running") return [];
      return [{ type: "ReplayJobProgressed", data: { ...about, ...command.progress } }];
    case "Cancel":
      if (job.state !== "Running") refuse("invalid", `the replay is ${job.state}; only a Running one can be cancelled`);
      return [{ type: "ReplayJobCancelled", data: { ...about, ...job.progress } }];
    case "Finish": {
      if (job.settled) return [];
      const { done } = command;
      const { cancelledAt } = job;
      return [{ type: "ReplayJobFinished", data: { ...about, done, skipped: job.order.matched - done, cancelledAt } }];
    }
  }
}
