import pLimit from "p-limit";
import type { AttemptLease, DueIndex } from "../application/delivery/due-index.ts";
import type { Outcome, Outcomes } from "../application/delivery/outcomes.ts";
import { loadWebhook } from "../application/webhooks.ts";
import type { WebhookEvent } from "../domain/event/events.ts";
import { Refusal } from "../domain/refusal.ts";
import { millis } from "../domain/time.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventStore, RecordedEvent } from "../ports/event-store.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";

const givenUpAtOnce = 50;

interface LostAttemptsParts {
  readonly store: EventStore;
  readonly dueIndex: Pick<DueIndex, "leases">;
  readonly outcomes: Pick<Outcomes, "record">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Gives up attempts whose worker was lost: those that are still without an outcome when their lease is over. */
export class LostAttempts {
  readonly #parts: LostAttemptsParts;
  readonly #firstSeen = new Map<string, number>();

  constructor(parts: LostAttemptsParts) {
    this.#parts = parts;
  }

  /**
   * Gives up what is lost by now; not to be called again meanwhile. A lease is timed by this process's own clock from
   * when it was first seen, so no clock jump ends one early.
   */
  async giveUp(): Promise<void> {
    const now = this.#parts.clock.monotonic();
    const leases = await this.#parts.dueIndex.leases();
    // An answer that took long may tell of attempts that began after it was asked for.
    const seenAt = this.#parts.clock.monotonic();
    const keys = new Set<string>();
    const lost: AttemptLease[] = [];
    for (const lease of leases) {
      const key = keyOf(lease);
      keys.add(key);
      const seen = this.#firstSeen.get(key);
      if (seen === undefined) this.#firstSeen.set(key, seenAt);
      else if (now - seen >= millis(lease.leaseUntil) - millis(lease.startedAt)) lost.push(lease);
    }
    for (const key of this.#firstSeen.keys()) if (!keys.has(key)) this.#firstSeen.delete(key);
    // A lost worker may leave thousands: one by one they would take long.
    const some = pLimit(givenUpAtOnce);
    const ends = await Promise.allSettled(lost.map((lease) => some(() => this.#tryToGiveUp(lease, now))));
    // Only once none of them goes on may they be looked for again.
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
  }

  async #tryToGiveUp(lease: AttemptLease, now: number): Promise<void> {
    try {
      await this.#giveUp(lease);
    } catch (error) {
      // Something of its own that cannot be read must not keep the others; it has another lease's time.
      if (!(error instanceof Refusal)) throw error;
      const { eventId, attempt } = lease;
      this.#firstSeen.set(keyOf(lease), now);
      this.#parts.metrics.trouble("attempt not given up");
      this.#parts.logger.warn({ err: error, eventId, attempt }, "a lost attempt cannot be given up");
    }
  }

  async #giveUp(lease: AttemptLease): Promise<void> {
    const { store, outcomes, logger, metrics } = this.#parts;
    const { state, revision, facts } = await loadWebhook(store, lease.eventId);
    if (!state?.open.includes(lease.attempt)) return;
    const outcome = {
      ok: false,
      reason: "outcome unknown",
      error: "outcome unknown: the worker was lost in the middle of the attempt",
      durationMs: millis(lease.leaseUntil) - millis(lease.startedAt),
      requestHeaders: {},
      answer: null,
      retryAfterMs: null,
    } as const satisfies Outcome;
    const { attempt, worker } = lease;
    const correlationId = facts[0]?.metadata.correlationId ?? state.id;
    const status = await outcomes.record({ state, revision }, attempt, outcome, {
      actor: { type: "service", part: "sweeper" },
      correlationId,
      causationId: facts.at(-1)?.id ?? null,
    });
    metrics.attempt("failed", outcome.reason, outcome.durationMs / 1000);
    const { reason, error, durationMs } = outcome;
    const { id: eventId, tenantId, destinationId } = state;
    const host = hostOf(facts, attempt);
    logger.warn(
      {
        eventId, tenantId, destinationId, correlationId, attempt, host, outcome: "failed", reason, error, durationMs,
        status, worker,
      },
      "attempt given up: outcome unknown",
    );
  }
}

/** Where an attempt went. */
function hostOf(facts: readonly RecordedEvent[], attempt: number): string {
  const started = (facts as readonly unknown[] as readonly WebhookEvent[]).find((fact) =>
    fact.type === "DeliveryAttemptStarted" && fact.data.attempt === attempt);
  return URL.parse(started?.type === "DeliveryAttemptStarted" ? started.data.url : "")?.host ?? "";
}

function keyOf({ eventId, attempt }: AttemptLease): string {
  return `${eventId}:${attempt}`;
}
