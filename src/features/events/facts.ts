import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { failureReasons, type FailureReason } from "../../kernel/domain/failure-reason.ts";
import {
  anyText, boolean, httpsUrl, integer, list, nullable, number, object, oneOf, optional, text, texts, time, uuid,
  type ObjectOf, type ValueOf,
} from "../../kernel/domain/schema.ts";
import type { Tags } from "../../kernel/domain/tags.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import { authTypes } from "../destinations/facts.ts";

/** The statuses of an accepted event. Failed lasts only between two facts of one append. */
export const eventStatuses = [
  "Pending",
  "Processing",
  "Succeeded",
  "Failed",
  "WaitingRetry",
  "CriticalFailure",
  "Cancelled",
] as const;
/** One of {@link eventStatuses}, as facts, read models and the API spell it. */
export type EventStatus = (typeof eventStatuses)[number];

/** The slot of an event in an ordered destination: its events are sent one after the other (docs/adr). */
export const slot = optional(integer(
  0, "The part of an ordered destination whose events are sent one after the other; missing without an ordering.", 63,
));

/** Fields that every fact after the first repeats, so that a projection needs no other fact. */
const moved = {
  eventId: uuid(), tenantId: uuid(), destinationId: uuid(), acceptedAt: time(),
  from: oneOf(eventStatuses, "The status that is left."),
  to: oneOf(eventStatuses, "The status that is entered; the same where none changes."),
  at,
  eventType: optional(text("The event's type; missing where it has none.")),
  ownerId: optional(text(
    "The tenant's own name for the customer that the event concerns; missing where it has none.",
  )),
  test: optional(boolean<true>("Whether it is a test event; missing for any other.")),
  notification: optional(boolean<true>("Whether it tells the tenant of its destinations; missing for any other.")),
  slot,
};
/** The fields that every fact of an event after the first repeats. */
export type Moved = ObjectOf<typeof moved>;
/** Fields that only facts of some events have, and that every fact of such an event repeats. */
export type Classified = Pick<Moved, "eventType" | "ownerId" | "test" | "notification" | "slot">;

/** Reasons that are the relay's own fault: they say nothing of the receiver. */
export const ownFailures: ReadonlySet<FailureReason> = new Set(["not sent", "outcome unknown"]);

/** The body has at most 16 KiB, decoded as UTF-8 with replacement; at most 32 KiB as JSON. */
const answer = object({
  statusCode: integer(100, undefined, 999), headers: texts(),
  body: anyText("The first part, decoded as UTF-8 with replacement."), truncated: boolean(),
});
/** The receiver's answer as far as it is kept. */
export type ReceiverAnswer = ValueOf<typeof answer>;

/** Whether a failed attempt counts for the circuit: not the relay's own faults, and no 429 of a healthy receiver. */
export function countsForCircuit(
  { reason, answer }: { readonly reason: FailureReason; readonly answer: Pick<ReceiverAnswer, "statusCode"> | null },
): boolean {
  return !ownFailures.has(reason) && answer?.statusCode !== 429;
}

/** Why an event that is due is not sent. */
export const waitReasons = [
  "circuit-open", "destination-inactive", "concurrency-limit", "receiver-pause", "rate-limit", "ordering", "proxy",
] as const;
export type WaitReason = (typeof waitReasons)[number];

/** Filters of events that facts of acts on many events record; those are missing that were not given. */
export const recordedFilter = {
  ownerId: optional(text("Only events that concern this customer.")),
  messageId: optional(uuid("Only deliveries of this message.")),
  correlationId: optional(text("Only events that came with this request.")),
  tags: optional(texts("Only events with all of these tags.")),
  finishedFrom: optional(time("Only events finished from this time on.")),
  finishedTo: optional(time("Only events finished up to this time.")),
};
/** Values of {@link recordedFilter}. */
export type RecordedFilter = Readonly<ObjectOf<typeof recordedFilter>>;

/** All values of a recorded filter; null for those that were not given. */
export function everyRecordedFilter(recorded: RecordedFilter) {
  const {
    ownerId = null, messageId = null, correlationId = null, tags = null, finishedFrom = null, finishedTo = null,
  } = recorded;
  return { ownerId, messageId, correlationId, tags, finishedFrom, finishedTo };
}

/** The replay in the background that sends an event. */
const replayId = optional(uuid("The replay in the background that sends the event; missing where none does."));

/** The `apiKeyId` of a test event, which no API key posted. */
export const noApiKey = "00000000-0000-0000-0000-000000000000";

/** Facts of an `event-<id>` stream: the acceptance of a webhook event, and all its attempts and changes. */
export const webhookFacts = {
  EventAccepted: fact({
    data: {
      eventId: uuid(), tenantId: uuid(), destinationId: uuid(),
      apiKeyId: uuid("The API key that the event was posted with; all zeros for a test event, which no key posts."),
      senderId: nullable(uuid()),
      senderRevision: nullable(
        integer(0),
        "The revision of the sender's stream that the event was accepted under; null without a sender, and where "
          + "version 1 did not say.",
      ),
      idempotencyKey: nullable(text()), payload: anyText("The very text to deliver."),
      original: nullable(anyText(), "What was received, where a sender's mapping made something else of it."),
      at,
      eventType: optional(text("What kind of event it is, as the producer said; missing where it said nothing.")),
      ownerId: optional(text(
        "The tenant's own name for the customer that the event concerns, as the producer said; missing where it "
          + "said nothing.",
      )),
      tags: optional(texts("The event's tags; missing where there are none.")),
      test: optional(boolean<true>("Whether it is a test event; missing for any other.")),
      notification: optional(
        boolean<true>("Whether it tells the tenant of its destinations; missing for any other."),
      ),
      sourceEventId: optional(
        uuid("The event whose payload it sends to another destination; missing where there is none."),
      ),
      messageId: optional(uuid("The message that it delivers, which accepted it; missing for any other.")),
      replayId,
      slot,
    },
    upcasters: [(data) => ({ ...data, senderRevision: null })],
    meaning: "The event was accepted.",
    words: "posted the event",
    shown: "all",
    audit: false,
    example: {
      eventId: examples.eventId, tenantId: examples.tenantId, destinationId: examples.destinationId,
      apiKeyId: examples.apiKeyId, senderId: null, senderRevision: null, idempotencyKey: examples.idempotencyKey,
      payload: examples.payload, original: null, at: examples.at, eventType: examples.eventType,
      ownerId: examples.ownerId, tags: examples.tags,
    },
  }),
  DeliveryAttemptStarted: fact({
    data: {
      ...moved, attempt: integer(1, "Never restarts."),
      leaseUntil: time("When the attempt counts as lost, should nothing more be heard of it."),
      worker: text(), url: httpsUrl, authType: nullable(oneOf(authTypes)), destinationRevision: integer(0),
      secretFingerprint: text(), probe: boolean(),
      waitedFor: optional(oneOf(
        waitReasons,
        "What the event waited for last, once it was due; missing where it waited for nothing, or that is not known.",
      )),
      secretFingerprints: optional(list(
        text(),
        "The fingerprints of all secrets that signed the attempt, the current one first; missing where one did.",
        2,
      )),
      signingKeyFingerprint: optional(text(
        "The fingerprint of the Ed25519 key that signed the attempt, too; missing where none did.",
      )),
    },
    meaning: "An attempt began.",
    words: "began attempt {attempt}",
    shown: "all",
    audit: false,
    example: { eventId: examples.eventId, attempt: 1, at: examples.attemptAt },
  }),
  DeliveryAttemptWithdrawn: fact({
    data: {
      ...moved, attempt: integer(1, "Its number is used again."),
      reason: oneOf(["proxy"]), error: anyText(), nextAttemptAt: time("When the event was due: it waits again."),
    },
    meaning: "An attempt that had begun was not made, since the outbound proxy failed: it does not count.",
    words: "withdrew attempt {attempt}, since the outbound proxy failed",
    shown: "all",
    audit: false,
  }),
  DeliverySucceeded: fact({
    data: {
      ...moved, attempt: integer(1), durationMs: number(0, "Milliseconds."), requestHeaders: texts("Secrets masked."),
      answer,
    },
    meaning: "An attempt succeeded.",
    words: "delivered the event by attempt {attempt}",
    shown: "all",
    audit: false,
    example: {
      eventId: examples.eventId, destinationId: examples.destinationId, from: "Processing", to: "Succeeded",
      at: examples.later, attempt: 1, durationMs: 87,
    },
  }),
  DeliveryFailed: fact({
    data: {
      ...moved, attempt: integer(1),
      durationMs: nullable(number(0), "Milliseconds; null where the worker was lost."),
      reason: oneOf(failureReasons), error: anyText(),
      requestHeaders: nullable(texts(), "Secrets masked; null where the worker was lost."),
      answer: nullable(answer),
      retryCount: integer(0, "Failed attempts since acceptance or the last replay or resend, this one included."),
    },
    upcasters: [
      (data) => (data["reason"] === "outcome unknown" ? { ...data, durationMs: null, requestHeaders: null } : data),
    ],
    meaning: "An attempt failed.",
    words: "failed in attempt {attempt}",
    shown: "all",
    audit: false,
  }),
  RetryScheduled: fact({
    data: {
      ...moved, retryCount: integer(1), nextAttemptAt: time(),
      retryAfterMs: optional(integer(
        1,
        "The wait that the receiver asked for by `Retry-After`, milliseconds; missing where it did not put the "
          + "attempt off.",
      )),
    },
    meaning: "The next attempt was scheduled.",
    words: "planned the next attempt for {nextAttemptAt}",
    shown: "all",
    audit: false,
  }),
  RetryBroughtForward: fact({
    data: { ...moved, nextAttemptAt: time() },
    meaning: "A person made the planned retry due at once.",
    words: "ordered the planned retry now",
    shown: "all",
    audit: false,
  }),
  DeliveryExhausted: fact({
    data: {
      ...moved, retryCount: integer(0),
      reason: oneOf(
        ["max attempts", "gone", "not retried", "not mapped"],
        "`not retried`: the destination's retry policy does not list the outcome. `not mapped`: the subscription's "
          + "mapping made nothing of the message.",
      ),
      error: optional(anyText("Why it was not mapped; missing for any other reason.")),
    },
    upcasters: [(data) => data],
    meaning: "The event became a CriticalFailure: no further attempt is planned.",
    words: "gave the event up",
    shown: "all",
    audit: false,
  }),
  EventReplayed: fact({
    data: {
      ...moved,
      mode: oneOf(
        ["replay", "resend"],
        "`replay`: the event was given up; a late success of an earlier attempt settles it, too. `resend`: it was "
          + "delivered or given up, and is sent once more whatever earlier attempts come to.",
      ),
      nextAttemptAt: time(),
      replayId,
    },
    upcasters: [(data) => ({ ...data, mode: "replay" })],
    meaning: "The event was replayed or resent.",
    words: "ordered the event to be sent again",
    shown: "all",
    audit: false,
  }),
  EventCancelled: fact({
    data: {
      ...moved,
      reason: oneOf(
        ["requested", "destination deleted", "expired"], "`expired`: it waited as long as its destination allows.",
      ),
    },
    upcasters: [(data) => data],
    meaning: "The event was cancelled.",
    words: "cancelled the event",
    shown: "all",
    audit: false,
  }),
};
export type WebhookEvent = EventsOf<typeof webhookFacts>;

/** One accepted webhook event, as its facts tell it. */
export interface Webhook {
  readonly id: string;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly payload: string;
  readonly idempotencyKey: string | null;
  readonly status: EventStatus;
  /** Failed attempts since acceptance or the last replay or resend. */
  readonly retryCount: number;
  /** Of these, how many of the newest in a row were the relay's own fault. */
  readonly ownFailures: number;
  readonly attempts: number;
  /** The number of the newest attempt before the last resend: outcomes up to it settle the event no more; 0 without. */
  readonly resentAfter: number;
  readonly open: readonly number[];
  /** Attempts that were given up as "outcome unknown": their real outcome may still come in, late. */
  readonly lost: readonly number[];
  /** The due time of the next attempt; during an attempt, the attempt's own; null if no attempt is to come. */
  readonly nextAttemptAt: Timestamp | null;
  readonly acceptedAt: Timestamp;
  /** When it was accepted, or replayed or resent last. */
  readonly waitsSince: Timestamp;
  readonly deliveredAt: Timestamp | null;
  readonly senderId: string | null;
  readonly eventType: string | null;
  /** The tenant's own name for its customer that the event concerns. */
  readonly ownerId: string | null;
  readonly tags: Tags | null;
  readonly test: boolean;
  /** Whether it tells the tenant of its destinations. */
  readonly notification: boolean;
  /** The event whose payload this one sends to another destination. */
  readonly sourceEventId: string | null;
  /** The message that it delivers. */
  readonly messageId: string | null;
  /** Whether its payload could not be made: it is never sent. */
  readonly unmapped: boolean;
  /** The slot of its destination's order since its acceptance, or the last replay or resend; null without an order. */
  readonly slot: number | null;
}

/** Undefined before the event was accepted, and once its stream is deleted. */
export type WebhookState = Webhook | undefined;

/** Folds one fact in. */
export function evolve(state: WebhookState, event: WebhookEvent): WebhookState {
  if (event.type === "EventAccepted") {
    const { eventId, tenantId, destinationId, payload, idempotencyKey, at, senderId, slot = null } = event.data;
    const { eventType = null, ownerId = null, tags = null, test = false, sourceEventId = null } = event.data;
    const { notification = false, messageId = null } = event.data;
    return {
      id: eventId, tenantId, destinationId, payload, idempotencyKey,
      status: "Pending", retryCount: 0, ownFailures: 0, attempts: 0, resentAfter: 0, open: [], lost: [],
      nextAttemptAt: at, acceptedAt: at, waitsSince: at, deliveredAt: null,
      senderId, eventType, ownerId, tags, test, notification, sourceEventId, messageId,
      unmapped: false, slot,
    };
  }
  if (!state) return state;
  const status = event.data.to;
  switch (event.type) {
    case "DeliveryAttemptStarted": {
      const { attempt } = event.data;
      return { ...state, status, attempts: attempt, open: [...state.open, attempt] };
    }
    case "DeliveryAttemptWithdrawn": {
      const { attempt, nextAttemptAt } = event.data;
      return { ...settle(state, attempt), status, attempts: attempt - 1, nextAttemptAt };
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
      const { mode, nextAttemptAt, at: waitsSince, slot = null } = event.data;
      const resentAfter = mode === "resend" ? state.attempts : state.resentAfter;
      return { ...state, status, retryCount: 0, ownFailures: 0, resentAfter, nextAttemptAt, waitsSince, slot };
    }
    case "DeliveryExhausted":
      return { ...state, status, nextAttemptAt: null, unmapped: event.data.reason === "not mapped" };
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

/** Statuses in which nothing is left to do. */
export const finishedStatuses = ["Succeeded", "CriticalFailure", "Cancelled"] as const satisfies readonly EventStatus[];

/** One of {@link finishedStatuses}: only events in these are ever purged. */
export type FinishedStatus = (typeof finishedStatuses)[number];

/** Whether an event of this status is finished. */
export function isFinished(status: EventStatus): status is FinishedStatus {
  return (finishedStatuses as readonly EventStatus[]).includes(status);
}

/** How an attempt came out, without what was sent and answered. */
export interface AttemptOutcome {
  readonly number: number;
  readonly outcome: "in progress" | "succeeded" | "failed" | "unknown";
  /** Null while it is in progress, and if the outcome is unknown. */
  readonly durationMs: number | null;
  readonly statusCode: number | null;
  readonly reason: FailureReason | null;
  readonly error: string | null;
}

/** The facts without the starts of attempts that were withdrawn: these were not made. */
export function withoutWithdrawn<Fact extends WebhookEvent>(facts: readonly Fact[]): readonly Fact[] {
  if (!facts.some(({ type }) => type === "DeliveryAttemptWithdrawn")) return facts;
  const kept: Fact[] = [];
  for (const fact of facts) {
    if (fact.type !== "DeliveryAttemptWithdrawn") kept.push(fact);
    else {
      const { attempt } = fact.data;
      const start = kept.findLastIndex(({ type, data }) =>
        type === "DeliveryAttemptStarted" && data.attempt === attempt);
      if (start >= 0) kept.splice(start, 1);
    }
  }
  return kept;
}

/** A fact that ends an attempt. */
export type AttemptEnded = Extract<WebhookEvent, { readonly type: "DeliverySucceeded" | "DeliveryFailed" }>;

/** The outcome of an attempt whose end is not recorded. */
export function inProgress(number: number): AttemptOutcome {
  return { number, outcome: "in progress", durationMs: null, statusCode: null, reason: null, error: null };
}

/** The outcome that a fact tells of. */
export function outcomeOf({ type, data }: AttemptEnded): AttemptOutcome {
  const { attempt: number, durationMs, answer } = data;
  const statusCode = answer?.statusCode ?? null;
  if (type === "DeliverySucceeded") {
    return { number, outcome: "succeeded", durationMs, statusCode, reason: null, error: null };
  }
  const { reason, error } = data;
  const outcome = reason === "outcome unknown" ? "unknown" : "failed";
  return { number, outcome, durationMs, statusCode, reason, error };
}
