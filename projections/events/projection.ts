import type { AttemptEnded, WebhookEvent } from "../../src/features/events/facts.ts";
import type { DataOf } from "../../src/kernel/domain/domain-event.ts";
import type { FailureReason } from "../../src/kernel/domain/failure-reason.ts";
import type { Change } from "../../src/kernel/ports/read-models.ts";
import { create, set, type Projection, type Recording } from "../projection.ts";
import { counted, moved } from "./counters.ts";
import { events, type EventDocument } from "./events.ts";
import { isOfOwnRequest, labelled, labels, labelsOf } from "./labels.ts";
import { finishedLate, lateFinishes } from "./late-finishes.ts";
import { replayed, replayedEvents } from "./replayed-events.ts";

type Undelivered = DataOf<WebhookEvent, "DeliveryExhausted" | "EventCancelled">;

function finished(fact: Undelivered, { position: finishedIn }: Recording): Change[] {
  const fields = { status: fact.to, nextAttemptAt: null, finishedIn, finishedAt: fact.at };
  return [set(events, fact.eventId, fields), ...finishedLate(fact), ...moved(fact)];
}

const unended = {
  endedAttempt: null, endedAt: null, endedStatusCode: null, endedReason: null, endedDurationMs: null,
} as const;

function ended(
  { attempt, at, answer, durationMs }: AttemptEnded["data"], reason: FailureReason | null,
): Partial<EventDocument> {
  return {
    endedAttempt: attempt, endedAt: at, endedStatusCode: answer?.statusCode ?? null, endedReason: reason,
    endedDurationMs: durationMs === null ? null : Math.round(durationMs),
  };
}

/** Lists and counts events. Purges are not made by one fact alone: the projection runner carries them out. */
export const eventsProjection: Projection = {
  name: "events",
  version: 7,
  collections: [events, labels, lateFinishes, replayedEvents],
  on: {
    EventAccepted: (accepted, { position: acceptedIn, metadata: { correlationId } }) => {
      const { eventId, tenantId, destinationId, idempotencyKey, at, test = null } = accepted;
      const isOwn = isOfOwnRequest(at, correlationId);
      const event = {
        id: eventId,
        tenantId,
        destinationUrlId: destinationId,
        status: "Pending",
        idempotencyKey,
        currentRetryCount: 0,
        nextAttemptAt: at,
        acceptedAt: at,
        deliveredAt: null,
        acceptedIn,
        finishedIn: null,
        finishedAt: null,
        test,
        correlationId: isOwn ? correlationId : null,
        labels: labelsOf(accepted, isOwn ? undefined : correlationId),
        attempts: 0,
        ...unended,
      } as const;
      return [
        create(events, event), ...labelled(event), ...replayed(accepted), ...counted(tenantId, destinationId, at, test),
      ];
    },
    DeliveryAttemptStarted: (fact) => [
      set(events, fact.eventId, { status: fact.to, attempts: fact.attempt, ...unended }),
      ...moved(fact),
    ],
    // The outcome of the attempt before is read from the log, as that of one with an unknown outcome.
    DeliveryAttemptWithdrawn: (fact) => [
      set(events, fact.eventId, {
        status: fact.to, attempts: fact.attempt - 1, nextAttemptAt: fact.nextAttemptAt, ...unended,
        ...fact.attempt > 1 && { endedAttempt: 0, endedReason: "outcome unknown" },
      }),
      ...moved(fact),
    ],
    DeliverySucceeded: (fact, { position: finishedIn }) => {
      // A late outcome, after another settled the event.
      if (fact.from === fact.to) return [];
      const { at, to: status } = fact;
      const fields = {
        status, deliveredAt: at, nextAttemptAt: null, finishedIn, finishedAt: at, ...ended(fact, null),
      };
      return [set(events, fact.eventId, fields), ...finishedLate(fact), ...moved(fact)];
    },
    DeliveryFailed: (fact) => {
      if (fact.from === fact.to) return [];
      const fields = { status: fact.to, currentRetryCount: fact.retryCount, ...ended(fact, fact.reason) };
      return [set(events, fact.eventId, fields), ...moved(fact)];
    },
    RetryScheduled: (fact) => [
      set(events, fact.eventId, { status: fact.to, nextAttemptAt: fact.nextAttemptAt }),
      ...moved(fact),
    ],
    RetryBroughtForward: ({ eventId, nextAttemptAt }) => [set(events, eventId, { nextAttemptAt })],
    DeliveryExhausted: finished,
    EventReplayed: (fact) => {
      const fields = { status: fact.to, currentRetryCount: 0, nextAttemptAt: fact.nextAttemptAt };
      return [set(events, fact.eventId, fields), ...replayed(fact), ...moved(fact)];
    },
    EventCancelled: finished,
  },
};
