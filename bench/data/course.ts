import { decide, type WebhookCommand } from "../../src/features/events/decide.ts";
import { evolve, type ReceiverAnswer, type WebhookState } from "../../src/features/events/facts.ts";
import { eventIdOf } from "../../src/kernel/domain/event-id.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { millis, timestamp } from "../../src/kernel/domain/time.ts";
import { entriesOf } from "../../src/kernel/log/origin.ts";
import { noStream, type NewEntry } from "../../src/kernel/ports/event-store.ts";
import { unkeyedEventKey } from "../../src/kernel/tools/hashing.ts";
import { bodyTemplate, stamp } from "../support/payload.ts";
import type { TenantRecord } from "../support/relay.ts";
import type { SeededIds } from "./chance.ts";
import type { EventRecipe, Step } from "./recipe.ts";

/** Facts for one append. */
export interface Append {
  readonly stream: string;
  readonly expected: number;
  readonly entries: readonly NewEntry[];
}

/** The tenants, whose settings go into the facts, and the source of ids. */
export interface CourseParts {
  readonly tenants: readonly TenantRecord[];
  readonly ids: SeededIds;
  /** Failed attempts after which an event is given up. */
  readonly maxTrys: number;
}

const worker = "bench";
const leaseMs = 30_000;
const scheduleMs = [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000];
/** How long people take to cancel and to replay. */
const reactionMs = 3_600_000;
const fingerprint = "0123456789abcdef";

const answers: Readonly<Record<"ok" | "status" | "gone", ReceiverAnswer>> = {
  ok: answer(200, '{"received":true}'),
  status: answer(503, "upstream is not available"),
  gone: answer(410, "gone"),
};

function answer(statusCode: number, body: string): ReceiverAnswer {
  const headers = {
    "content-type": "application/json", "content-length": String(body.length), date: "Tue, 01 Sep 2026 00:00:00 GMT",
    server: "bench",
  };
  return { statusCode, headers, body, truncated: false };
}

const body = bodyTemplate();

/** The 1 KB of JSON of an event. */
function payloadOf(number: number): string {
  stamp(body, 0, number, 0);
  return body.toString("latin1");
}

/** Where each tenant's events go. */
export function destinationUrl(tenant: number, destination: number): string {
  return `https://destination-${destination}.tenant-${tenant}.bench.example/webhooks`;
}

/**
 * The id of an event of a set. Its key is as random as the program's own, which would take the installation's secret:
 * nobody asks for an event of a set by its idempotency key.
 */
export function storedEventId({ acceptedMs, idempotencyKey }: EventRecipe, { tenantId }: TenantRecord): string {
  return eventIdOf(acceptedMs, unkeyedEventKey(tenantId, idempotencyKey));
}

/** One event on its way from acceptance to its end: every fact as the program itself would decide it. */
export class Course {
  readonly #recipe: EventRecipe;
  readonly #parts: CourseParts;
  readonly #stream: string;
  readonly #correlationId: string;
  #state: WebhookState;
  #revision = noStream;
  #causationId: string | null = null;
  #nextStep = 0;

  constructor(recipe: EventRecipe, parts: CourseParts) {
    this.#recipe = recipe;
    this.#parts = parts;
    this.#stream = streams.event(storedEventId(recipe, this.#tenant));
    this.#correlationId = parts.ids.timedUuid(recipe.acceptedMs);
  }

  accept(): Append {
    const { number, destination, idempotencyKey, acceptedMs } = this.#recipe;
    const { tenantId, apiKeyId, destinations } = this.#tenant;
    const event = {
      eventId: storedEventId(this.#recipe, this.#tenant), tenantId, destinationId: destinations[destination]!.id,
      apiKeyId, senderId: null, senderRevision: null, idempotencyKey, payload: payloadOf(number), original: null,
    };
    return this.#append({ type: "Accept", event, at: timestamp(acceptedMs) }, { type: "apiKey", id: apiKeyId });
  }

  /** When the next step is to be taken, milliseconds since 1970; undefined when there is none. Asked once a step. */
  dueMs(): number | undefined {
    const step = this.#recipe.steps[this.#nextStep];
    if (step === undefined || !this.#state) return undefined;
    const { acceptedMs, chance } = this.#recipe;
    if (step === "cancel" || step === "replay") return acceptedMs + 86_400_000 + Math.floor(reactionMs * chance());
    return millis(this.#state.nextAttemptAt ?? this.#state.acceptedAt) + 2;
  }

  /** Takes the next step at this time. */
  step(ms: number): readonly Append[] {
    const step = this.#recipe.steps[this.#nextStep++]!;
    const at = timestamp(ms);
    const person = { type: "user", id: this.#tenant.tenantId, role: "Owner" } as const;
    if (step === "cancel") return [this.#append({ type: "Cancel", reason: "requested", at }, person)];
    if (step === "replay") return [this.#append({ type: "Replay", at }, person)];
    return this.#attempt(step, ms);
  }

  #attempt(step: Exclude<Step, "cancel" | "replay">, ms: number): readonly Append[] {
    const { tenant, destination, chance } = this.#recipe;
    const service = { type: "service", part: `delivery/${worker}` } as const;
    const claim = {
      leaseUntil: timestamp(ms + leaseMs), worker, url: destinationUrl(tenant, destination), authType: null,
      destinationRevision: 0, secretFingerprint: fingerprint, probe: false,
    };
    const started = this.#append({ type: "StartAttempt", with: claim, at: timestamp(ms) }, service);
    const { attempts: attempt, id } = this.#state!;
    const durationMs = step === "timeout" ? 15_000 : 5 + Math.floor(chance() ** 3 * 500);
    const at = timestamp(ms + durationMs);
    const made = { attempt, durationMs, requestHeaders: requestHeaders(id, attempt, ms), at };
    if (step === "ok") {
      return [started, this.#append({ type: "Succeed", ...made, answer: answers.ok }, service)];
    }
    const failed = step === "timeout"
      ? { reason: "timeout", error: "no complete answer in time", answer: null } as const
      : { reason: "status", error: `status ${answers[step].statusCode}`, answer: answers[step] } as const;
    const policy = { scheduleMs, jitter: 0.1, maxTrys: this.#parts.maxTrys };
    const ended = { ...made, ...failed, retryAfterMs: null, policy, destinationDeleted: false, random: chance() };
    return [started, this.#append({ type: "Fail", ...ended }, service)];
  }

  get #tenant(): TenantRecord {
    return this.#parts.tenants[this.#recipe.tenant]!;
  }

  #append(command: WebhookCommand, actor: NewEntry["metadata"]["actor"]): Append {
    const facts = decide(this.#state, command);
    const origin = { actor, correlationId: this.#correlationId, causationId: this.#causationId };
    const entries = entriesOf(facts, origin, this.#parts.ids);
    const expected = this.#revision;
    this.#state = facts.reduce((state, fact) => evolve(state, fact), this.#state);
    this.#revision += facts.length;
    this.#causationId = entries.at(-1)?.id ?? null;
    return { stream: this.#stream, expected, entries };
  }
}

function requestHeaders(eventId: string, attempt: number, ms: number): Readonly<Record<string, string>> {
  return {
    "Content-Type": "application/json",
    "User-Agent": "webhook-relay/0.1.0",
    "X-Relay-Attempt": String(attempt),
    "X-Service-Signature": `sha256=${fingerprint.repeat(4)}`,
    "webhook-id": eventId,
    "webhook-timestamp": String(Math.floor(ms / 1000)),
    "webhook-signature": `v1,${fingerprint.repeat(3).slice(0, 43)}=`,
  };
}
