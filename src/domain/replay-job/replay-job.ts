import type { DomainEvent } from "../domain-event.ts";
import type { FinishedStatus } from "../event/purge.ts";
import { refuse } from "../refusal.ts";
import type { Timestamp } from "../time.ts";

/** Which of a tenant's events a replay takes; times of acceptance, both inclusive, null for any. */
export interface ReplayJobFilter {
  readonly destinationId: string | null;
  readonly senderId: string | null;
  readonly eventType: string | null;
  /** `name:value` */
  readonly tag: string | null;
  /** In ascending order. */
  readonly ids: readonly string[] | null;
  readonly statuses: readonly FinishedStatus[];
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
}

/** What a replay is to do. It takes the events that matched its filter, and were finished, at `upTo`. */
export interface ReplayOrder extends ReplayJobFilter {
  /** The destination to which each event's payload goes as a new event; null: the events themselves are sent again. */
  readonly toDestinationId: string | null;
  /** How many events are put to work in a second at most. */
  readonly perSecond: number;
  /** The place in the log up to which `matched` was counted. */
  readonly upTo: string;
  readonly matched: number;
}

/** How far a replay has come. */
export interface ReplayProgress {
  /** Events put to work. */
  readonly done: number;
  /** Events passed over so far, as far as they were met. */
  readonly skipped: number;
  /** Every event up to this id is settled or in `batch`; null before the first. */
  readonly cursor: string | null;
  /** The ids of the events that are next, in the order of acceptance: some may have been put to work since. */
  readonly batch: readonly string[];
}

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
  readonly finishedAt: Timestamp | null;
}

interface About {
  replayId: string;
  tenantId: string;
  at: Timestamp;
}

/** Facts of a `replay-<id>` stream. The first and the newest together hold the whole state. */
export type ReplayJobEvent =
  | DomainEvent<"ReplayJobOrdered", About & ReplayOrder>
  | DomainEvent<"ReplayJobProgressed", About & ReplayProgress>
  /** Nothing more is put to work. The events of the batch are still to be counted. */
  | DomainEvent<"ReplayJobCancelled", About & ReplayProgress>
  /** Every event is settled: `done` and `skipped` are all that matched. `cancelledAt`: null where it ran to its end. */
  | DomainEvent<"ReplayJobFinished", About & { done: number; skipped: number; cancelledAt: Timestamp | null }>;

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
      id, tenantId, order, progress: nothingDone, state: "Running", settled: false, startedAt, finishedAt: null,
    };
  }
  if (!job) return job;
  if (event.type === "ReplayJobFinished") {
    const { done, skipped, cancelledAt, at } = event.data;
    const progress = { done, skipped, cursor: null, batch: [] };
    const state = cancelledAt === null ? "Finished" : "Cancelled";
    return { ...job, progress, state, settled: true, finishedAt: cancelledAt ?? at };
  }
  const { done, skipped, cursor, batch, at } = event.data;
  const progress = { done, skipped, cursor, batch };
  return event.type === "ReplayJobProgressed"
    ? { ...job, progress }
    : { ...job, progress, state: "Cancelled", finishedAt: at };
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
      const cancelledAt = job.state === "Cancelled" ? job.finishedAt : null;
      return [{ type: "ReplayJobFinished", data: { ...about, done, skipped: job.order.matched - done, cancelledAt } }];
    }
  }
}
