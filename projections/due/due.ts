import { isWaiting } from "../../src/features/events/decide.ts";
import { isFinished, type Moved } from "../../src/features/events/facts.ts";
import type { Change, Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, remove, set, type Projection } from "../projection.ts";

/** An event in WaitingRetry. Pending events are due at once: `events` has those. */
export type WaitingDocument = {
  readonly eventId: string;
  readonly destinationId: string;
  readonly dueAt: string;
};

/** An attempt under way. */
export type LeaseDocument = {
  /** `<eventId>:<attempt>` */
  readonly key: string;
  readonly eventId: string;
  readonly destinationId: string;
  readonly attempt: number;
  readonly startedAt: string;
  /** The sweeper gives the attempt up after the time from `startedAt` to `leaseUntil`. */
  readonly leaseUntil: string;
  readonly worker: string;
};

/** A test event that waits for its attempt. */
export type WaitingTestDocument = { readonly eventId: string; readonly destinationId: string };

/** Pending test events: they are sent even if all others are held. */
export const waitingTests: Collection<WaitingTestDocument> = {
  name: "waitingTests",
  key: "eventId",
  fields: { eventId: "id", destinationId: "id" },
  indexes: [["destinationId"]],
};

/** Indexed for dispatchers by destination, and for the sweeper by due time. */
export const waiting: Collection<WaitingDocument> = {
  name: "waiting",
  key: "eventId",
  fields: {
    eventId: "id",
    destinationId: "id",
    dueAt: "time",
  },
  indexes: [
    ["destinationId", "dueAt"],
    ["destinationId", "eventId", "dueAt"],
    ["dueAt", "destinationId"],
  ],
};

/** Indexed by age for the sweeper, and by destination for its dispatcher. */
export const leases: Collection<LeaseDocument> = {
  name: "leases",
  key: "key",
  fields: {
    key: "text",
    eventId: "id",
    destinationId: "id",
    attempt: "number",
    startedAt: "time",
    leaseUntil: "time",
    worker: "text",
  },
  indexes: [["destinationId"]],
};

/** An unfinished event of an ordered destination. */
export type OrderedDocument = {
  readonly eventId: string;
  readonly destinationId: string;
  readonly slot: number;
  /** The position of the fact that accepted it, or put it back to work: the order within the slot. */
  readonly position: string;
  /** Null while an attempt is under way. */
  readonly dueAt: string | null;
};

/** Each slot in its order, from the head on. Events without a slot are in none. */
export const ordered: Collection<OrderedDocument> = {
  name: "ordered",
  key: "eventId",
  fields: {
    eventId: "id",
    destinationId: "id",
    slot: "number",
    position: "text",
    dueAt: "time",
  },
  indexes: [["destinationId", "slot", "position"]],
};

/** The counter of events that wait for an attempt. */
export const backlogCounter = "due/backlog";

function leave({ eventId, from, to, test }: Moved): Change[] {
  if (!isWaiting({ status: from }) || isWaiting({ status: to })) return [];
  return [
    ...(from === "WaitingRetry" ? [remove(waiting, eventId)] : []),
    ...(test ? [remove(waitingTests, eventId)] : []),
    add(backlogCounter, -1),
  ];
}

/** The end of an attempt; a late one may find its event waiting for another. */
function outcome(moved: Moved & { readonly attempt: number }): Change[] {
  return [remove(leases, `${moved.eventId}:${moved.attempt}`), ...leave(moved), ...leaveOrder(moved)];
}

function join({ eventId, destinationId, slot }: Slotted, position: string, dueAt: string): Change[] {
  return slot === undefined ? [] : [create(ordered, { eventId, destinationId, slot, position, dueAt })];
}

function plan({ eventId, slot }: Slotted, dueAt: string | null): Change[] {
  return slot === undefined ? [] : [set(ordered, eventId, { dueAt })];
}

function leaveOrder({ eventId, slot, from, to }: Moved): Change[] {
  return slot === undefined || from === to || !isFinished(to) ? [] : [remove(ordered, eventId)];
}

type Slotted = Pick<Moved, "eventId" | "destinationId" | "slot">;

/** The due index (docs/adr/0008): events that wait for an attempt, and attempts under way. */
export const dueProjection: Projection = {
  name: "due",
  version: 5,
  collections: [waiting, waitingTests, leases, ordered],
  on: {
    EventAccepted: (accepted, { position }) => {
      const { eventId, destinationId, test, at } = accepted;
      return [
        ...(test ? [create(waitingTests, { eventId, destinationId })] : []),
        ...join(accepted, position, at),
        add(backlogCounter, 1),
      ];
    },
    DeliveryAttemptStarted: (started) => {
      const { eventId, destinationId, attempt, at: startedAt, leaseUntil, worker } = started;
      const key = `${eventId}:${attempt}`;
      return [
        ...leave(started),
        ...plan(started, null),
        create(leases, { key, eventId, destinationId, attempt, startedAt, leaseUntil, worker }),
      ];
    },
    DeliveryAttemptWithdrawn: (withdrawn) => {
      const { eventId, destinationId, attempt, to, test, nextAttemptAt: dueAt } = withdrawn;
      return [
        ...plan(withdrawn, dueAt),
        remove(leases, `${eventId}:${attempt}`),
        ...(to === "WaitingRetry" ? [create(waiting, { eventId, destinationId, dueAt })] : []),
        ...(test ? [create(waitingTests, { eventId, destinationId })] : []),
        add(backlogCounter, 1),
      ];
    },
    DeliverySucceeded: outcome,
    DeliveryFailed: outcome,
    RetryScheduled: (scheduled) => {
      const { eventId, destinationId, nextAttemptAt: dueAt } = scheduled;
      return [create(waiting, { eventId, destinationId, dueAt }), ...plan(scheduled, dueAt), add(backlogCounter, 1)];
    },
    RetryBroughtForward: (forward) => {
      const { eventId, nextAttemptAt: dueAt } = forward;
      return [set(waiting, eventId, { dueAt }), ...plan(forward, dueAt)];
    },
    DeliveryExhausted: (exhausted) => [...leave(exhausted), ...leaveOrder(exhausted)],
    EventReplayed: (replayed, { position }) => [
      ...join(replayed, position, replayed.nextAttemptAt), add(backlogCounter, 1),
    ],
    EventCancelled: (cancelled) => [...leave(cancelled), ...leaveOrder(cancelled)],
  },
};
