import type { AuthType } from "../destination/events.ts";
import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";
import type { Tags } from "./tags.ts";

/**
 * The statuses of an accepted event. Failed lasts only between two facts of one append, WaitingRetry until the next
 * attempt. An event in CriticalFailure was given up, and can be replayed; a Cancelled one was cancelled by a person or
 * with its destination.
 */
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

/** Fields that only facts of some events have, and that every fact of such an event repeats. */
export interface Classified {
  /** What kind of event it is; missing where the producer did not say. */
  eventType?: string;
  /** The tenant's own name for its customer that the event concerns; missing where the producer did not say. */
  ownerId?: string;
  /** Of a test event. */
  test?: true;
}

/**
 * Fields that every fact after the first repeats, so that a projection or a counter needs no other fact: the event, its
 * owner, and the statuses before and after the fact (equal if the fact does not change the status).
 */
export interface Moved extends Classified {
  eventId: string;
  tenantId: string;
  destinationId: string;
  acceptedAt: Timestamp;
  from: EventStatus;
  to: EventStatus;
  at: Timestamp;
}

/**
 * Why an attempt failed. `not sent`: its claim took so long that another worker might have given it up as lost, or its
 * process was ending; `outcome unknown`: its worker was lost, the receiver may have seen it.
 */
export const failureReasons = [
  "status",
  "timeout",
  "connection",
  "tls",
  "address refused",
  "token",
  "not sent",
  "outcome unknown",
] as const;
/** One of {@link failureReasons}, as facts, the API and the metrics spell it. */
export type FailureReason = (typeof failureReasons)[number];

/** Reasons that are the relay's own fault: they say nothing of the receiver. */
export const ownFailures: ReadonlySet<FailureReason> = new Set(["not sent", "outcome unknown"]);

/** The receiver's answer as far as it is kept. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** At most 16 KiB of the body, decoded as UTF-8 with replacement; at most 32 KiB as JSON. */
  readonly body: string;
  readonly truncated: boolean;
}

/**
 * What keeps an event that is due from being sent. `rate-limit` and `ordering` are kept for destinations that have such
 * settings.
 */
export const waitReasons = [
  "circuit-open", "destination-inactive", "concurrency-limit", "receiver-pause", "rate-limit", "ordering",
] as const;
/** One of {@link waitReasons}. */
export type WaitReason = (typeof waitReasons)[number];

/**
 * The `apiKeyId` of an event that no API key posted: a test event, which a person or a service account ordered. The
 * fact's metadata names the actor.
 */
export const noApiKey = "00000000-0000-0000-0000-000000000000";

/** Facts of an `event-<id>` stream: the acceptance of a webhook event, and all its attempts and changes. */
export type WebhookEvent =
  | DomainEvent<
      "EventAccepted",
      Classified & {
        eventId: string;
        tenantId: string;
        destinationId: string;
        /** The key that it was posted with; {@link noApiKey} of a test event. */
        apiKeyId: string;
        senderId: string | null;
        /** The revision of the sender's stream that it was accepted under; null also in facts that did not say. */
        senderRevision: number | null;
        idempotencyKey: string | null;
        /** The very text to deliver; its UTF-8 bytes are the bytes received. */
        payload: string;
        /** The received body, if a sender's mapping transformed it; null otherwise. */
        original: string | null;
        at: Timestamp;
        /** Missing where there are none. */
        tags?: Tags;
        /** The event whose payload this one sends to another destination; missing where there is none. */
        sourceEventId?: string;
      }
    >
  | DomainEvent<
      "DeliveryAttemptStarted",
      Moved & {
        attempt: number;
        /** The end of the attempt's lease, if no outcome is recorded before. */
        leaseUntil: Timestamp;
        /** The id of the worker: a UUID, a new one for each start of the worker. */
        worker: string;
        url: string;
        authType: AuthType | null;
        /** The revision of the destination's stream that the attempt was made under. */
        destinationRevision: number;
        secretFingerprint: string;
        /** Whether the attempt is the probe of a circuit that is not closed. */
        probe: boolean;
        /** What the event waited for last, once it was due; missing where that is nothing, or not known. */
        waitedFor?: WaitReason;
      }
    >
  | DomainEvent<
      "DeliverySucceeded",
      Moved & { attempt: number; durationMs: number; requestHeaders: Readonly<Record<string, string>>; answer: Answer }
    >
  | DomainEvent<
      "DeliveryFailed",
      Moved & {
        attempt: number;
        /** Null, as are the headers, if the worker was lost: then the duration is not known. */
        durationMs: number | null;
        reason: FailureReason;
        error: string;
        requestHeaders: Readonly<Record<string, string>> | null;
        answer: Answer | null;
        /** Failed attempts since acceptance or the last replay or resend, this one included. */
        retryCount: number;
      }
    >
  | DomainEvent<
      "RetryScheduled",
      Moved & {
        retryCount: number;
        nextAttemptAt: Timestamp;
        /** The wait that the receiver asked for, milliseconds; missing where it is not what put the attempt off. */
        retryAfterMs?: number;
      }
    >
  | DomainEvent<"DeliveryExhausted", Moved & { retryCount: number; reason: "max attempts" | "gone" }>
  /**
   * The event is put back to work. `replay`: it was given up, and any success settles it, a late one too. `resend`: it
   * was finished, and is sent once more: outcomes of earlier attempts settle it no more.
   */
  | DomainEvent<"EventReplayed", Moved & { mode: "replay" | "resend"; nextAttemptAt: Timestamp }>
  /** The next attempt is due earlier than the schedule says. */
  | DomainEvent<"RetryBroughtForward", Moved & { nextAttemptAt: Timestamp }>
  | DomainEvent<"EventCancelled", Moved & { reason: "requested" | "destination deleted" }>;
