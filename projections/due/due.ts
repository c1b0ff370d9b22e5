import type { CircuitEvent, CircuitPosition } from "../../src/domain/circuit/circuit.ts";
import { isWaiting } from "../../src/domain/event/decide.ts";
import type { WebhookEvent } from "../../src/domain/event/events.ts";
import type { Change } from "../../src/ports/read-models.ts";
import { add, create, put, remove, type Collection, type Projection } from "../projection.ts";

/** An event that waits for its next attempt to be due. One that is Pending is due at once: `events` has those. */
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
  readonly leaseUntil: string;
  readonly worker: string;
};

/** A circuit that is not closed. */
export type CircuitDocument = {
  readonly destinationId: string;
  readonly position: Exclude<CircuitPosition, "Closed">;
  /** When somebody must look: the end of the timer, or of the probe's lease; null when the next event is the probe. */
  readonly wakeAt: string | null;
};

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
  indexes: [["startedAt"], ["destinationId", "startedAt"]],
};

export const circuits: Collection<CircuitDocument> = {
  name: "circuits",
  key: "destinationId",
  fields: { destinationId: "id", position: "text", wakeAt: "time" },
  indexes: [["wakeAt"], ["position"]],
};

/** The scope whose one counter is the number of events that wait for an attempt. */
export const backlogCounter = "due/backlog";

type Moved = Exclude<WebhookEvent, { type: "EventAccepted" }>["data"];

/** Takes an event out of the waiting ones where a fact ends its wait. */
function leave({ eventId, from, to }: Moved): Change[] {
  if (!isWaiting({ status: from }) || isWaiting({ status: to })) return [];
  return [...(from === "WaitingRetry" ? [remove(waiting, eventId)] : []), add(backlogCounter, -1)];
}

/** The end of an attempt; a late one may find its event waiting for another. */
function outcome(moved: Moved & { readonly attempt: number }): Change[] {
  return [remove(leases, `${moved.eventId}:${moved.attempt}`), ...leave(moved)];
}

function circuitMoved({ destinationId, position, openUntil, probe }: CircuitEvent["data"]): Change[] {
  if (position === "Closed") return [remove(circuits, destinationId)];
  return [put(circuits, { destinationId, position, wakeAt: probe?.leaseUntil ?? openUntil })];
}

export const dueProjection: Projection = {
  name: "due",
  version: 2,
  collections: [waiting, leases, circuits],
  on: {
    EventAccepted: () => [add(backlogCounter, 1)],
    DeliveryAttemptStarted: (started) => {
      const { eventId, destinationId, attempt, at: startedAt, leaseUntil, worker } = started;
      const key = `${eventId}:${attempt}`;
      return [
        ...leave(started),
        create(leases, { key, eventId, destinationId, attempt, startedAt, leaseUntil, worker }),
      ];
    },
    DeliverySucceeded: outcome,
    DeliveryFailed: outcome,
    RetryScheduled: ({ eventId, destinationId, nextAttemptAt: dueAt }) => [
      create(waiting, { eventId, destinationId, dueAt }),
      add(backlogCounter, 1),
    ],
    EventReplayed: () => [add(backlogCounter, 1)],
    EventCancelled: leave,
    CircuitOpened: circuitMoved,
    CircuitHalfOpened: circuitMoved,
    CircuitProbeClaimed: circuitMoved,
    CircuitProbeReleased: circuitMoved,
    CircuitClosed: circuitMoved,
    DestinationDeleted: ({ destinationId }) => [remove(circuits, destinationId)],
  },
};
