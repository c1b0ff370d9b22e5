import { isDeepStrictEqual } from "node:util";
import type { CircuitCommand } from "../../domain/circuit/circuit.ts";
import { decide as decideWebhook } from "../../domain/event/decide.ts";
import type { Answer, FailureReason, WebhookEvent } from "../../domain/event/events.ts";
import type { RetryPolicy } from "../../domain/event/retry-policy.ts";
import { evolve, type Webhook, type WebhookState } from "../../domain/event/state.ts";
import { streams } from "../../domain/streams.ts";
import { timestamp } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";
import { RevisionConflict, type EventStore } from "../../ports/event-store.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Logger, Metrics } from "../../ports/telemetry.ts";
import { destinations, tenants } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import { changeCircuit } from "../circuits.ts";
import { countFinished } from "../finishing.ts";
import { entriesOf, type Origin } from "../origin.ts";
import { loadWebhook, type LoadedWebhook } from "../webhooks.ts";

/** Facts of a circuit looked through for one whose append was not answered: the log was away for moments since. */
const looked = 100;

/** How an attempt ended, as its worker saw it. */
export type Outcome = {
  readonly durationMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
} & (
  | { readonly ok: true; readonly answer: Answer }
  | {
      readonly ok: false;
      readonly reason: FailureReason;
      readonly error: string;
      readonly answer: Answer | null;
      readonly retryAfterMs: number | null;
    }
);

/** How an attempt ended whose worker was lost: nobody saw how long it took, what was sent, or what came back. */
export const outcomeUnknown = {
  ok: false,
  reason: "outcome unknown",
  error: "outcome unknown: the worker was lost in the middle of the attempt",
  durationMs: null,
  requestHeaders: null,
  answer: null,
  retryAfterMs: null,
} as const;

type Ending = Outcome | typeof outcomeUnknown;

/** What came of recording an outcome. */
export interface Recorded {
  /** The event's, after it. */
  readonly status: Webhook["status"];
  /** False where another had settled what it would have, and tells of it. */
  readonly isOwn: boolean;
}

/** What came of writing an outcome into its event's stream. */
interface Written {
  /** The event's, after it. */
  readonly status: Webhook["status"];
  /** Whether another fact had settled what it would have. */
  readonly late: boolean;
  /** By this call, by an earlier one of the same origin as far as anybody knows, or not at all: another was first. */
  readonly written: "now" | "before" | "by another";
  /** What this origin wrote of it, as far as anybody knows. */
  readonly facts: readonly WebhookEvent[];
}

/** What the tenant wants of retries and circuits. */
interface TenantPolicy {
  readonly maxTrys: number;
  readonly circuitBreakerTimer: number;
}

/** What the ends of attempts are written with. */
interface OutcomeParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly retry: RetryPolicy;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "finished">;
}

/**
 * Writes the ends of attempts into the log: into the event's own stream, then the destination's circuit. Only the count
 * of failures that a success ends comes before it.
 */
export class Outcomes {
  readonly #parts: OutcomeParts;

  constructor(parts: OutcomeParts) {
    this.#parts = parts;
  }

  /**
   * Records the outcome of an attempt that was seen at `known` (state and revision after its start): in the event's
   * stream, then in the circuit. A late outcome is recorded all the same. Who finds it settled by another leaves the
   * counting to that one. Throws LogUnavailable; it is counted for certain once called again with the same `known`
   * and `origin`, `again` set: whatever of it is in the log already is not done twice.
   */
  async record(
    known: { readonly state: Webhook; readonly revision: number },
    attempt: number,
    outcome: Ending,
    origin: Origin,
    again = false,
  ): Promise<Recorded> {
    const policy = await this.#policyOf(known.state.tenantId);
    // First: who dies in between has ended the count for a success nobody heard of, not left it in spite of one.
    if (outcome.ok) await this.#endCount(known.state, origin);
    const { status, late, written, facts } = await this.#recordEvent(known, attempt, outcome, policy, origin);
    const isOwn = written === "now" || (written === "before" && again);
    if (isOwn) {
      await this.#count(known.state, { ok: outcome.ok, late }, policy, origin, again);
      // Last: who has to record it again comes here once.
      countFinished(this.#parts.metrics, facts);
    }
    return { status, isOwn };
  }

  /** Decides on a destination's circuit and appends what follows; whether anything did. */
  changeCircuit(
    destination: { readonly destinationId: string; readonly tenantId: string },
    origin: Origin,
    command: CircuitCommand,
  ): Promise<boolean> {
    return changeCircuit(this.#parts, destination, origin, command);
  }

  async #endCount({ tenantId, destinationId }: Webhook, origin: Origin): Promise<void> {
    if (await this.#isDeleted(destinationId)) return;
    const at = timestamp(this.#parts.clock.now());
    await this.changeCircuit({ tenantId, destinationId }, origin, { type: "EndCount", at });
  }

  async #count(
    { id: eventId, tenantId, destinationId }: Webhook,
    ended: { readonly ok: boolean; readonly late: boolean },
    { maxTrys, circuitBreakerTimer: timerS }: TenantPolicy,
    origin: Origin,
    again: boolean,
  ): Promise<void> {
    if (await this.#isDeleted(destinationId)) return;
    if (again && (await this.#isCounted(destinationId, origin))) return;
    const at = timestamp(this.#parts.clock.now());
    await this.changeCircuit({ tenantId, destinationId }, origin, {
      type: "Record", ...ended, eventId, maxTrys, timerS, at,
    });
  }

  async #recordEvent(
    known: { readonly state: Webhook; readonly revision: number },
    attempt: number,
    outcome: Ending,
    policy: TenantPolicy,
    origin: Origin,
  ): Promise<Written> {
    const { store, clock, ids, retry } = this.#parts;
    let { state, revision } = known;
    let before: Omit<Written, "status"> = { late: false, written: "by another", facts: [] };
    for (;;) {
      const at = timestamp(clock.now());
      const facts = outcome.ok
        ? decideWebhook(state, {
          type: "Succeed", attempt,
          durationMs: outcome.durationMs,
          requestHeaders: outcome.requestHeaders,
          answer: outcome.answer,
          at,
        })
        : decideWebhook(state, {
          type: "Fail", attempt,
          durationMs: outcome.durationMs,
          requestHeaders: outcome.requestHeaders,
          reason: outcome.reason,
          error: outcome.error,
          answer: outcome.answer,
          retryAfterMs: outcome.retryAfterMs,
          policy: { ...retry, maxTrys: policy.maxTrys },
          destinationDeleted: await this.#isDeleted(state.destinationId),
          random: ids.random(),
          at,
        });
      const last = facts.at(-1);
      // Nothing left to record: another was first, or only the answer to this very outcome's append was lost.
      if (!last) return { status: state.status, ...before };
      const late = isLate(state, attempt);
      try {
        await store.append(streams.event(state.id), revision, entriesOf(facts, origin, this.#parts));
        return { status: "to" in last.data ? last.data.to : state.status, late, written: "now", facts };
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
        const newer = await loadWebhook(store, state.id);
        // A stream that begins after what was known is another event's, accepted after this one was purged.
        const [first] = newer.facts;
        if (!newer.state || (first && first.revision > revision)) {
          // Whoever wrote an outcome there, it is gone.
          return { status: state.status, late: true, written: "before", facts: [] };
        }
        ({ state, revision } = { state: newer.state, revision: newer.revision });
        before = writtenBefore(newer.facts, attempt, origin);
      }
    }
  }

  /** Whether the circuit's stream tells of this outcome: its origin is its attempt's alone. */
  async #isCounted(destinationId: string, { causationId }: Origin): Promise<boolean> {
    const { store } = this.#parts;
    const newest = await store.readStream(streams.circuit(destinationId), { backwards: true, limit: looked });
    return newest.some((entry) => entry.unreadable === undefined && entry.metadata.causationId === causationId);
  }

  async #isDeleted(destinationId: string): Promise<boolean> {
    return (await this.#parts.aggregates.read(destinations, destinationId)).state?.deleted ?? true;
  }

  async #policyOf(tenantId: string): Promise<TenantPolicy> {
    const { state } = await this.#parts.aggregates.read(tenants, tenantId);
    if (!state) throw new Error(`tenant ${tenantId} of an event is not in the log`);
    return state;
  }
}

/** Whether an outcome of the attempt comes after another fact settled what it would have. */
function isLate(state: WebhookState, attempt: number): boolean {
  return state?.status !== "Processing" || attempt !== state.attempts;
}

/** Who wrote an attempt's newest outcome, whether it was late then, and what of that is of this origin. */
function writtenBefore(
  facts: LoadedWebhook["facts"], attempt: number, { actor, causationId }: Origin,
): Omit<Written, "status"> {
  const at = facts.findLastIndex(({ type, data }) =>
    (type === "DeliverySucceeded" || type === "DeliveryFailed") && data.attempt === attempt);
  const start = Math.max(0, at);
  const earlier = facts.slice(0, start);
  const late = isLate(earlier.reduce<WebhookState>((state, fact) => evolve(state, fact), undefined), attempt);
  const isOwn = ({ metadata: by }: LoadedWebhook["facts"][number]) =>
    by.causationId === causationId && isDeepStrictEqual(by.actor, actor);
  const outcome = facts[at];
  return {
    late, written: outcome && isOwn(outcome) ? "before" : "by another",
    facts: facts.slice(start).filter(isOwn),
  };
}
