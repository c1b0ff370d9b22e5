import { ReceiverPause } from "../../src/delivery/dispatch/pauses.ts";
import type { SendOutcome } from "../../src/delivery/requests/outcome.ts";
import { decide, type WebhookCommand } from "../../src/features/events/decide.ts";
import type { ReceiverAnswer } from "../../src/features/events/facts.ts";
import { loadWebhook } from "../../src/features/events/webhooks.ts";
import type { ServiceParts } from "../../src/features/services.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { entriesOf } from "../../src/kernel/log/origin.ts";
import { ManualClock } from "./manual-clock.ts";

const requestHeaders = { "Content-Type": "application/json", Authorization: "Bearer ***" };
const answered = (statusCode: number): ReceiverAnswer => ({
  statusCode,
  headers: { server: "test" },
  body: "seen",
  truncated: false,
});

/** A 2xx, as a worker sees it. */
export const success = {
  ok: true, durationMs: 9, requestHeaders: {}, answer: { statusCode: 204, headers: {}, body: "", truncated: false },
} as const satisfies SendOutcome;

/** 429, as a worker sees it, with its `Retry-After`, if any, in ms. */
export const tooMany = (retryAfterMs: number | null = null) => ({
  ok: false, reason: "status", error: "answered 429", durationMs: 9, requestHeaders: {},
  answer: { statusCode: 429, headers: {}, body: "", truncated: false }, retryAfterMs,
}) as const satisfies SendOutcome;

/** For attempts whose receiver asks for none. */
export const noPause = new ReceiverPause(new ManualClock(), () => undefined);

/** No answer, for there was no connection. */
export const refusal = {
  ok: false, reason: "connection", error: "refused", durationMs: 9, requestHeaders: {}, answer: null,
  retryAfterMs: null,
} as const satisfies SendOutcome;

/** Applies commands to an event as a delivery worker would. */
export class Deliveries {
  readonly #world: ServiceParts;

  constructor(world: ServiceParts) {
    this.#world = world;
  }

  /** An attempt begins, leased for `leaseMs`; returns its number, which follows `former` where that is given. */
  async start(eventId: string, former?: number, leaseMs = 0): Promise<number> {
    const now = this.#world.clock.now();
    const at = timestamp(now);
    await this.#apply(eventId, {
      type: "StartAttempt",
      with: {
        leaseUntil: timestamp(now + leaseMs),
        worker: "test",
        url: "https://receiver.example/hook",
        authType: "BearerToken",
        destinationRevision: 0,
        secretFingerprint: "0123456789abcdef",
        probe: false,
      },
      at,
    }, former);
    return (await loadWebhook(this.#world.store, eventId)).state?.attempts ?? 0;
  }

  /** An attempt succeeds. */
  async succeed(eventId: string): Promise<void> {
    const attempt = await this.start(eventId);
    const at = timestamp(this.#world.clock.now());
    await this.#apply(eventId, { type: "Succeed", attempt, durationMs: 12, requestHeaders, answer: answered(204), at });
  }

  /** An attempt fails, the last one when `maxTrys` says so; the next is due after `waitMs`. */
  async fail(eventId: string, maxTrys: number, waitMs = 60_000): Promise<void> {
    await this.#fail(eventId, await this.start(eventId), maxTrys, waitMs);
  }

  /** The event is given up after so many attempts, of which its stream has the last alone. */
  async giveUpAfter(eventId: string, attempts: number): Promise<void> {
    await this.#fail(eventId, await this.start(eventId, attempts - 1), 1, 0);
  }

  /** The worker of the newest attempt is given up as lost; a next attempt may begin at once. */
  async lose(eventId: string, maxTrys = 10): Promise<void> {
    const { state } = await loadWebhook(this.#world.store, eventId);
    await this.#apply(eventId, {
      type: "Fail",
      attempt: state?.attempts ?? 0,
      requestHeaders: null,
      durationMs: null,
      reason: "outcome unknown",
      error: "the worker was lost",
      answer: null,
      retryAfterMs: null,
      policy: { scheduleMs: [0], jitter: 0, maxTrys },
      destinationDeleted: false,
      random: 0,
      at: timestamp(this.#world.clock.now()),
    });
  }

  /** An attempt that was given up as lost succeeds while the next one is under way. */
  async succeedLate(eventId: string): Promise<void> {
    const attempt = await this.start(eventId);
    await this.lose(eventId);
    await this.start(eventId);
    await this.late(eventId, attempt);
  }

  /** The outcome of an attempt that was given up comes late: a success. */
  async late(eventId: string, attempt: number): Promise<void> {
    const at = timestamp(this.#world.clock.now());
    await this.#apply(eventId, { type: "Succeed", attempt, durationMs: 12, requestHeaders, answer: answered(204), at });
  }

  /** Replays the event, even where the API would refuse to. */
  async replay(eventId: string): Promise<void> {
    await this.#apply(eventId, { type: "Replay", at: timestamp(this.#world.clock.now()) });
  }

  async #fail(eventId: string, attempt: number, maxTrys: number, waitMs: number): Promise<void> {
    await this.#apply(eventId, {
      type: "Fail",
      attempt,
      requestHeaders,
      durationMs: 34,
      reason: "status",
      error: "answered 500",
      answer: answered(500),
      retryAfterMs: null,
      policy: { scheduleMs: [waitMs], jitter: 0, maxTrys },
      destinationDeleted: false,
      random: 0,
      at: timestamp(this.#world.clock.now()),
    });
  }

  async #apply(eventId: string, command: WebhookCommand, attempts?: number): Promise<void> {
    const { state, revision } = await loadWebhook(this.#world.store, eventId);
    const told = state && { ...state, attempts: attempts ?? state.attempts };
    const origin = { actor: { type: "service", part: "test" } as const, correlationId: "test", causationId: null };
    await this.#world.store.append(
      streams.event(eventId),
      revision,
      entriesOf(decide(told, command), origin, this.#world.ids),
    );
  }
}
