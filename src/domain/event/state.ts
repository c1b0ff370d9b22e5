import type { Timestamp } from "../time.ts";
import { ownFailures, type EventStatus, type WebhookEvent } from "./events.ts";
import type { Tags } from "./tags.ts";

/** One accepted webhook event, as its facts tell it. */
export interface Webhook {
  readonly id: string;
  readonly tenantId: string;
  readonly destinationId: string;
  /** The very text to deliver. */
  readonly payload: string;
  readonly idempotencyKey: string | null;
  readonly status: EventStatus;
  /** Failed attempts since acceptance or the last replay or resend. */
  readonly retryCount: number;
  /** Of these, how many of the newest in a row were the relay's own fault. */
  readonly ownFailures: number;
  /** The number of the newest attempt; never restarts. */
  readonly attempts: number;
  /** The number of the newest attempt before the last resend: outcomes up to it settle the event no more; 0 without. */
  readonly resentAfter: number;
  /** Attempts started whose outcome is not recorded. */
  readonly open: readonly number[];
  /** Attempts that were given up as "outcome unknown": their real outcome may still come in, late. */
  readonly lost: readonly number[];
  /** The due time of the next attempt; during an attempt, the attempt's own; null if no attempt is to come. */
  readonly nextAttemptAt: Timestamp | null;
  readonly acceptedAt: Timestamp;
  readonly deliveredAt: Timestamp | null;
  readonly senderId: string | null;
  readonly eventType: string | null;
  /** The tenant's own name for its customer that the event concerns. */
  readonly ownerId: string | null;
  readonly tags: Tags | null;
  readonly test: boolean;
  /** The event whose payload this one sends to another destination. */
  readonly sourceEventId: string | null;
}

/** Undefined before the event was accepted, and once its stream is deleted. */
export type WebhookState = Webhook | undefined;

/** Folds one fact in. */
export function evolve(state: WebhookState, event: WebhookEvent): WebhookState {
  if (event.type === "EventAccepted") {
    const { eventId, tenantId, destinationId, payload, idempotencyKey, at, senderId } = event.data;
    const { eventType = null, ownerId = null, tags = null, test = false, sourceEventId = null } = event.data;
    return {
      id: eventId, tenantId, destinationId, payload, idempotencyKey,
      status: "Pending", retryCount: 0, ownFailures: 0, attempts: 0, resentAfter: 0, open: [], lost: [],
      nextAttemptAt: at, acceptedAt: at, deliveredAt: null,
      senderId, eventType, ownerId, tags, test, sourceEventId,
    };
  }
  if (!state) return state;
  const status = event.data.to;
  switch (event.type) {
    case "DeliveryAttemptStarted": {
      const { attempt } = event.data;
      return { ...state, status, attempts: attempt, open: [...state.open, attempt] };
    }
    case "DeliverySucceeded": {
      const settled = settle(state, event.data.attempt);
      if (status !== "Succeeded" || state.status === "Succeeded") return { ...settled, status };
      return { ...settled, status, deliveredAt: event.data.at, nextAttemptAt: null };
    }
    case "DeliveryFailed": {
      const { attempt, reason, retryCount, from, to } = event.data;
      const settled = settle(state, attempt);
      const lost = reason === "outcome unknown" ? [...settled.lost, attempt] : settled.lost;
      if (from === to) return { ...settled, lost };
      return { ...settled, status, retryCount, lost, ownFailures: ownFailures.has(reason) ? state.ownFailures + 1 : 0 };
    }
    case "RetryScheduled":
    case "RetryBroughtForward":
      return { ...state, status, nextAttemptAt: event.data.nextAttemptAt };
    case "EventReplayed": {
      const { mode, nextAttemptAt } = event.data;
      const resentAfter = mode === "resend" ? state.attempts : state.resentAfter;
      return { ...state, status, retryCount: 0, ownFailures: 0, resentAfter, nextAttemptAt };
    }
    case "DeliveryExhausted":
    case "EventCancelled":
      return { ...state, status, nextAttemptAt: null };
  }
}

/** Whether an attempt was given up before, or made before the last resend: another may be under way since. */
export function isLate(state: Pick<Webhook, "open" | "resentAfter">, attempt: number): boolean {
  return !state.open.includes(attempt) || attempt <= state.resentAfter;
}

function settle(state: Webhook, attempt: number): Webhook {
  const open = state.open.filter((other) => other !== attempt);
  const lost = state.lost.filter((other) => other !== attempt);
  return { ...state, open, lost };
}
