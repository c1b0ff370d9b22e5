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
import type { WorkQueue } from "../ports/work-queue.ts";
import { Loop } from "./loop.ts";

const tickMs = 200;
const overlapMs = 1_000;
const leasesEveryMs = 1_000;
const everythingEveryMs = 3_000;
/** First attempts are on their way through the queue; one that waits longer than this was left to the due index. */
const firstAttemptGraceMs = 1_000;
const givenUpAtOnce = 50;

interface SweeperParts {
  readonly store: EventStore;
  readonly dueIndex: DueIndex;
  readonly outcomes: Outcomes;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Makes sure that nothing is forgotten: wakes destinations whose retries became due, whose circuit's
 * timer ended or whose work was dropped by the queue, and gives up attempts whose worker was lost.
 */
export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #firstSeen = new Map<string, number>();
  #sweptTo: number;
  #leasesAt = -Infinity;
  #everythingAt = -Infinity;
  readonly #loop: Loop;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#loop = new Loop(parts.clock, async () => {
      await this.#tick().catch((error: unknown) => {
        parts.metrics.trouble("sweeper");
        parts.logger.warn({ err: error }, "sweep failed; it is done again");
      });
      return tickMs;
    });
    this.#sweptTo = parts.clock.now();
  }

  /** Sweeps after 200 ms, and again 200 ms after each sweep. */
  start(): void {
    this.#loop.start(tickMs);
  }

  /** Resolves when the sweep under way is through; no lease is given up after it. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #tick(): Promise<void> {
    const { dueIndex, clock } = this.#parts;
    const now = clock.now();
    const monotonic = clock.monotonic();
    // The index lags the log by moments, and a clock that was set back must hide nothing.
    const since = Math.min(this.#sweptTo, now) - overlapMs;
    const due = new Set(await dueIndex.destinationsWithRetriesDue(since, now));
    for (const destination of await dueIndex.circuitsDue(now)) due.add(destination);
    if (monotonic - this.#everythingAt >= everythingEveryMs) {
      for (const destination of await dueIndex.destinationsWithWorkDue(now - firstAttemptGraceMs)) due.add(destination);
      this.#everythingAt = monotonic;
    }
    if (due.size > 0) {
      await this.#parts.queue.publish([...due].map((destinationId) => ({ kind: "wake", destinationId, position: "" })));
    }
    this.#sweptTo = now;
    if (monotonic - this.#leasesAt >= leasesEveryMs) {
      await this.#expireLeases(monotonic);
      this.#leasesAt = monotonic;
    }
  }

  /** A lease is timed by this process's own clock from when it was first seen, so no clock jump ends one early. */
  async #expireLeases(now: number): Promise<void> {
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
    // A lost worker may leave thousands: one by one they would hold up the retries of everyone else.
    const some = pLimit(givenUpAtOnce);
    const ends = await Promise.allSettled(lost.map((lease) => some(() => this.#tryToGiveUp(lease, now))));
    // Only once none of them goes on may the next sweep begin.
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
