import type { DataOf } from "../../kernel/domain/domain-event.ts";
import type { FailureReason } from "../../kernel/domain/failure-reason.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { millis, type Timestamp, dayMs, timestamp } from "../../kernel/domain/time.ts";
import {
  ownFailures, type ReceiverAnswer, type Moved, type Webhook, type WebhookEvent, type WebhookState,
} from "./facts.ts";

/** Commands to an event; `at` is their time, and that of the facts. */
export type WebhookCommand =
  | {
      readonly type: "Accept";
      readonly event: Omit<DataOf<WebhookEvent, "EventAccepted">, "at">;
      readonly at: Timestamp;
    }
  | {
      readonly type: "StartAttempt";
      readonly with: Pick<
        DataOf<WebhookEvent, "DeliveryAttemptStarted">,
        "leaseUntil" | "worker" | "url" | "authType" | "destinationRevision" | "secretFingerprint" | "probe"
        | "waitedFor" | "secretFingerprints" | "signingKeyFingerprint"
      >;
      readonly at: Timestamp;
    }
  | {
      readonly type: "Succeed";
      readonly attempt: number;
      readonly durationMs: number;
      readonly requestHeaders: Readonly<Record<string, string>>;
      readonly answer: ReceiverAnswer;
      readonly at: Timestamp;
    }
  | {
      readonly type: "Fail";
      readonly attempt: number;
      readonly durationMs: number | null;
      readonly reason: FailureReason;
      readonly error: string;
      readonly requestHeaders: Readonly<Record<string, string>> | null;
      readonly answer: ReceiverAnswer | null;
      /** The wait that the receiver asked for by `Retry-After`, milliseconds. */
      readonly retryAfterMs: number | null;
      readonly policy: RetryPolicy & {
        readonly maxTrys: number;
        /** The outcomes that are followed by another attempt; undefined: all. */
        readonly retryOn?: readonly string[] | undefined;
      };
      readonly destinationDeleted: boolean;
      readonly random: number;
      readonly at: Timestamp;
    }
  /** The attempt was not made, since the outbound proxy failed. */
  | { readonly type: "Withdraw"; readonly attempt: number; readonly error: string; readonly at: Timestamp }
  | {
      readonly type: "Replay" | "Resend";
      /** The event's slot in its destination's order as it is now; null or missing without an order. */
      readonly slot?: number | null;
      readonly at: Timestamp;
      readonly replayId?: string;
    }
  | { readonly type: "BringForward"; readonly at: Timestamp }
  /** Cancels the event if it waits since `before` or longer. */
  | { readonly type: "Expire"; readonly before: Timestamp; readonly at: Timestamp }
  | { readonly type: "Cancel"; readonly reason: "requested" | "destination deleted"; readonly at: Timestamp };

/** When failed deliveries are tried again. */
export interface RetryPolicy {
  /** Waits in milliseconds after the 1st, 2nd, … failure; the last one repeats. */
  readonly scheduleMs: readonly number[];
  /** The largest share of the wait that randomness may add. */
  readonly jitter: number;
}

/** An event that had so many attempts is not replayed again: each look at it reads them all, with the answers. */
const replayLimit = 1_000;

/** The facts that a command leads to; an empty list when there is nothing (more) to do. Throws a Refusal. */
export function decide(state: WebhookState, command: WebhookCommand): WebhookEvent[] {
  if (command.type === "Accept") {
    if (state) refuse("conflict", "the event exists already");
    return [{ type: "EventAccepted", data: { ...command.event, at: command.at } }];
  }
  if (!state) refuse("not-found", "event not found");
  switch (command.type) {
    case "StartAttempt":
      return startAttempt(state, command);
    case "Succeed":
      return succeed(state, command);
    case "Fail":
      return fail(state, command);
    case "Withdraw":
      return withdraw(state, command);
    case "Replay":
      return replay(state, command);
    case "Resend":
      refuseTest(state, "resent");
      refuseUnmapped(state, "resent");
      if (state.status !== "Succeeded" && state.status !== "CriticalFailure") {
        refuse("invalid", `the event is ${state.status}; only one in Succeeded or CriticalFailure can be resent`);
      }
      return backToWork(state, "resend", command);
    case "BringForward":
      return bringForward(state, command.at);
    case "Expire":
      if (!isWaiting(state) || state.waitsSince > command.before) return [];
      return [{ type: "EventCancelled", data: { ...moved(state, "Cancelled", command.at), reason: "expired" } }];
    case "Cancel":
      if (!isWaiting(state)) {
        if (command.reason === "destination deleted") return [];
        refuse("invalid", `the event is ${state.status}; only one that is Pending or WaitingRetry can be cancelled`);
      }
      return [{ type: "EventCancelled", data: { ...moved(state, "Cancelled", command.at), reason: command.reason } }];
  }
}

/** The time of the next attempt: the schedule's wait, with jitter by `random` (0 to 1), or a later `Retry-After`. */
export function nextAttemptAt(
  policy: RetryPolicy,
  retryCount: number,
  now: Timestamp,
  random: number,
  retryAfterMs: number | null,
): Timestamp {
  const last = policy.scheduleMs.length - 1;
  const wait = policy.scheduleMs[Math.min(retryCount - 1, last)] ?? dayMs;
  const planned = wait + Math.floor(wait * policy.jitter * random);
  return timestamp(millis(now) + Math.max(planned, Math.min(retryAfterMs ?? 0, dayMs)));
}

/** Whether the event waits for an attempt, due or not. */
export function isWaiting({ status }: Pick<Webhook, "status">): boolean {
  return status === "Pending" || status === "WaitingRetry";
}

function startAttempt(state: Webhook, command: Extract<WebhookCommand, { type: "StartAttempt" }>): WebhookEvent[] {
  // A Pending event is due at once, also by a clock that was set back meanwhile.
  const early = state.status === "WaitingRetry" && (state.nextAttemptAt ?? "") > command.at;
  if (!isWaiting(state) || early) return [];
  return [
    {
      type: "DeliveryAttemptStarted",
      data: { ...moved(state, "Processing", command.at), attempt: state.attempts + 1, ...command.with },
    },
  ];
}

function refuseTest({ test }: Webhook, done: "replayed" | "resent"): void {
  if (test) refuse("invalid", `the event is a test event, which cannot be ${done}`);
}

function refuseUnmapped({ unmapped }: Webhook, done: "replayed" | "resent"): void {
  if (unmapped) refuse("invalid", `the subscription's mapping made nothing of the message: it cannot be ${done}`);
}

type BackToWork = Extract<WebhookCommand, { type: "Replay" | "Resend" }>;

function replay(state: Webhook, command: BackToWork): WebhookEvent[] {
  refuseTest(state, "replayed");
  refuseUnmapped(state, "replayed");
  if (state.status !== "CriticalFailure") {
    refuse("invalid", `the event is ${state.status}; only one in CriticalFailure can be replayed`);
  }
  if (state.attempts >= replayLimit) {
    refuse("rejected", `the event had ${state.attempts} attempts; from ${replayLimit} on it cannot be replayed`);
  }
  return backToWork(state, "replay", command);
}

function backToWork(
  state: Webhook, mode: "replay" | "resend", { at, replayId, slot = null }: BackToWork,
): WebhookEvent[] {
  const by = replayId === undefined ? {} : { replayId };
  const toPending = moved({ ...state, slot }, "Pending", at);
  return [{ type: "EventReplayed", data: { ...toPending, mode, nextAttemptAt: at, ...by } }];
}

/** A retry that is due already keeps its time, and so its place among the others. */
function bringForward(state: Webhook, at: Timestamp): WebhookEvent[] {
  const { status, nextAttemptAt: planned } = state;
  if (status !== "WaitingRetry") refuse("invalid", `the event is ${status}; only one in WaitingRetry can be retried`);
  if (planned !== null && planned <= at) return [];
  return [{ type: "RetryBroughtForward", data: { ...moved(state, status, at), nextAttemptAt: at } }];
}

/** An attempt that was given up meanwhile stays so. */
function withdraw(
  state: Webhook, { attempt, error, at }: Extract<WebhookCommand, { type: "Withdraw" }>,
): WebhookEvent[] {
  if (state.status !== "Processing" || attempt !== state.attempts || !state.open.includes(attempt)) return [];
  const to = state.retryCount > 0 ? "WaitingRetry" : "Pending";
  const nextAttemptAt = state.nextAttemptAt ?? at;
  return [{
    type: "DeliveryAttemptWithdrawn",
    data: { ...moved(state, to, at), attempt, reason: "proxy", error, nextAttemptAt },
  }];
}

/** A late success counts in every status but Cancelled, and not after the event was resent. */
function succeed(state: Webhook, command: Extract<WebhookCommand, { type: "Succeed" }>): WebhookEvent[] {
  const { attempt, durationMs, requestHeaders, answer, at } = command;
  if (!awaitsOutcome(state, attempt)) return [];
  const settles = state.status !== "Cancelled" && attempt > state.resentAfter;
  const to = settles ? "Succeeded" : state.status;
  const outcome = { attempt, durationMs, requestHeaders, answer };
  return [{ type: "DeliverySucceeded", data: { ...moved(state, to, at), ...outcome } }];
}

/** After a failure by the relay's own fault the event is due at once; after two in a row it follows the schedule. */
function fail(state: Webhook, command: Extract<WebhookCommand, { type: "Fail" }>): WebhookEvent[] {
  const { attempt, durationMs, reason, error, requestHeaders, answer, at } = command;
  if (!awaitsOutcome(state, attempt)) return [];
  const outcome = { attempt, durationMs, reason, error, requestHeaders, answer };
  const current = state.status === "Processing" && attempt === state.attempts;
  if (!current) {
    // It was given up before.
    if (!state.open.includes(attempt) && reason === "outcome unknown") return [];
    const late = { ...moved(state, state.status, at), ...outcome, retryCount: state.retryCount };
    return [{ type: "DeliveryFailed", data: late }];
  }
  const retryCount = state.retryCount + 1;
  const failed: WebhookEvent = {
    type: "DeliveryFailed",
    data: { ...moved(state, "Failed", at), ...outcome, retryCount },
  };
  const from = { ...state, status: "Failed" as const };
  if (command.destinationDeleted) {
    const cancelled = moved(from, "Cancelled", at);
    return [failed, { type: "EventCancelled", data: { ...cancelled, reason: "destination deleted" } }];
  }
  const final = finalReason(state, retryCount, command);
  if (final !== null) {
    const exhausted = { ...moved(from, "CriticalFailure", at), retryCount };
    return [failed, { type: "DeliveryExhausted", data: { ...exhausted, reason: final } }];
  }
  const isFirstOwn = ownFailures.has(reason) && state.ownFailures === 0;
  const nextAfter = (askedMs: number | null) => nextAttemptAt(command.policy, retryCount, at, command.random, askedMs);
  const next = isFirstOwn ? at : nextAfter(command.retryAfterMs);
  const retryAfter = next > nextAfter(null) ? { retryAfterMs: millis(next) - millis(at) } : {};
  const scheduled = { ...moved(from, "WaitingRetry", at), retryCount, nextAttemptAt: next, ...retryAfter };
  return [failed, { type: "RetryScheduled", data: scheduled }];
}

/** Why no other attempt follows a failed one; null where one does. */
function finalReason(
  { test }: Webhook, retryCount: number,
  { reason, answer, policy: { maxTrys, retryOn } }: Extract<WebhookCommand, { type: "Fail" }>,
): DataOf<WebhookEvent, "DeliveryExhausted">["reason"] | null {
  if (answer?.statusCode === 410) return "gone";
  if (test) return "max attempts";
  if (retryOn && !isListed(retryOn, reason, answer)) return "not retried";
  return retryCount >= maxTrys ? "max attempts" : null;
}

/** Whether a list of outcomes has this one. Failures of the relay itself are always in it. */
function isListed(retryOn: readonly string[], reason: FailureReason, answer: ReceiverAnswer | null): boolean {
  if (ownFailures.has(reason)) return true;
  if (answer === null) return retryOn.includes(reason === "timeout" ? "timeout" : "connection");
  const status = String(answer.statusCode);
  return retryOn.includes(status) || retryOn.includes(`${status[0]}xx`);
}

/** An outcome counts once: while the attempt is open, or after it was given up as lost. */
function awaitsOutcome(state: Webhook, attempt: number): boolean {
  return state.open.includes(attempt) || state.lost.includes(attempt);
}

function moved(state: Webhook, to: Webhook["status"], at: Timestamp): Moved {
  const { id, tenantId, destinationId, acceptedAt, status, eventType, ownerId, test, notification, slot } = state;
  const fields: Moved = { eventId: id, tenantId, destinationId, acceptedAt, from: status, to, at };
  if (eventType !== null) fields.eventType = eventType;
  if (ownerId !== null) fields.ownerId = ownerId;
  if (test) fields.test = true;
  if (notification) fields.notification = true;
  if (slot !== null) fields.slot = slot;
  return fields;
}
