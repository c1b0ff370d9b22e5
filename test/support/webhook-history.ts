import { expect } from "chai";
import { decide, type WebhookCommand } from "../../src/features/events/decide.ts";
import {
  evolve, type ReceiverAnswer, type EventStatus, type WebhookEvent, type WebhookState,
} from "../../src/features/events/facts.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { folded, specificationsOf } from "./given.ts";

const webhook = { initial: (): WebhookState => undefined, evolve, decide };
/** Specifications of webhook events; see {@link specificationsOf}. */
export const given = specificationsOf(webhook);

const startMs = Date.parse("2026-01-15T09:30:00.000Z");
/** Seconds after the acceptance. */
export const t = (seconds: number) => timestamp(startMs + seconds * 1000);
/** A made-up UUID that ends in the digit. */
export const id = (last: number) => `0193a1b2-c3d4-7000-8000-00000000000${last}`;
const ids = { eventId: id(5), tenantId: id(1), destinationId: id(3) };
/** A producer's submission. */
export const submission = {
  ...ids,
  apiKeyId: id(4),
  senderId: null,
  senderRevision: null,
  idempotencyKey: "k",
  payload: "{}",
  original: null,
};
export const accepted: WebhookEvent = { type: "EventAccepted", data: { ...submission, at: t(0) } };
/** Fields that every fact after the first repeats. */
export const moved = (from: EventStatus, to: EventStatus, seconds: number) => ({
  ...ids,
  acceptedAt: t(0),
  from,
  to,
  at: t(seconds),
});

/** Fields of the start of an attempt, with a lease of 20 s. */
export const claim = (seconds: number) => ({
  leaseUntil: t(seconds + 20),
  worker: "w1",
  url: "https://a.example/",
  authType: null,
  destinationRevision: 0,
  secretFingerprint: "f",
  probe: false,
});
/** A receiver's answer without content. */
export const answer = (statusCode: number): ReceiverAnswer => ({ statusCode, headers: {}, body: "", truncated: false });
export const exchange = { durationMs: 40, requestHeaders: {} };
export const policy = { scheduleMs: [5000, 300_000], jitter: 0.1, maxTrys: 3 };

/** Commands: of attempts by their number, at seconds after the acceptance. */
export const start = (seconds: number): WebhookCommand => ({
  type: "StartAttempt",
  with: claim(seconds),
  at: t(seconds),
});
export const succeed = (attempt: number, seconds: number): WebhookCommand => ({
  type: "Succeed",
  attempt,
  ...exchange,
  answer: answer(200),
  at: t(seconds),
});
/** The failure that {@link fail} tells of unless changed: an answer of 500. */
export const failure = { ...exchange, reason: "status", error: "HTTP 500", answer: answer(500) } as const;
export const fail = (
  attempt: number,
  seconds: number,
  change: Partial<Extract<WebhookCommand, { type: "Fail" }>> = {},
): WebhookCommand => ({
  type: "Fail",
  attempt,
  ...failure,
  retryAfterMs: null,
  policy,
  destinationDeleted: false,
  random: 0,
  at: t(seconds),
  ...change,
});
/** Fields of a failure that is due to a lost worker. */
export const unknown = { reason: "outcome unknown", error: "lost", answer: null } as const;
export const cancel = (reason: "requested" | "destination deleted", seconds: number): WebhookCommand => ({
  type: "Cancel",
  reason,
  at: t(seconds),
});

/** The facts that a row of commands makes. */
export function lived(...commands: readonly WebhookCommand[]): WebhookEvent[] {
  return livedFrom(accepted, ...commands);
}

/** The same of an event that was accepted by `first`. */
export function livedFrom(first: WebhookEvent, ...commands: readonly WebhookCommand[]): WebhookEvent[] {
  const facts = [first];
  for (const command of commands) {
    const decided = decide(folded(webhook, facts), command);
    expect(decided, `${command.type} at ${command.at}`).to.not.be.empty;
    facts.push(...decided);
  }
  return facts;
}

export const processing = lived(start(0));
export const waitingRetry = lived(start(0), fail(1, 1));
export const exhausted = lived(start(0), fail(1, 1), start(6), fail(2, 7), start(400), fail(3, 401));
export const succeeded = lived(start(0), succeed(1, 1));
const cancelled = lived(cancel("requested", 1));
export const lost = lived(start(0), fail(1, 20, unknown));
/** A history that ends in each status an event can rest in. */
export const histories: Readonly<Record<Exclude<EventStatus, "Failed">, readonly WebhookEvent[]>> = {
  Pending: [accepted],
  Processing: processing,
  Succeeded: succeeded,
  WaitingRetry: waitingRetry,
  CriticalFailure: exhausted,
  Cancelled: cancelled,
};
/** The event that facts tell of. */
export const stateOf = (facts: readonly WebhookEvent[]) => folded(webhook, facts) ?? expect.fail("there is no event");
