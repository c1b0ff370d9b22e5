import pLimit from "p-limit";
import type { LeaseDocument } from "../../../projections/due/due.ts";
import type { Webhook, WebhookEvent } from "../../features/events/facts.ts";
import { loadWebhook, referencesOf } from "../../features/events/webhooks.ts";
import { Refusal } from "../../kernel/domain/refusal.ts";
import { millis } from "../../kernel/domain/time.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import type { EventStore } from "../../kernel/ports/event-store.ts";
import type { Logger, Metrics } from "../../kernel/ports/telemetry.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import type { Reach } from "../../kernel/workers/log-tail.ts";
import type { DueIndex } from "../requests/due-index.ts";
import { outcomeUnknown } from "../requests/outcome.ts";
import type { Outcomes, Recording } from "../requests/recording.ts";
import type { Workers } from "./workers.ts";

const givenUpAtOnce = 50;

interface LostAttemptsParts {
  readonly store: EventStore;
  readonly dueIndex: Pick<DueIndex, "leases">;
  readonly outcomes: Outcomes;
  readonly workers: Pick<Workers, "isGone" | "held">;
  readonly reach: Reach;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

interface Loss {
  readonly lease: LeaseDocument;
  readonly state: Webhook;
  readonly recording: Recording;
  readonly correlationId: string;
  readonly host: string;
}

/** Gives up attempts of lost workers: ended ones, or a lease over and no living process with the attempt. */
export class LostAttempts {
  readonly #parts: LostAttemptsParts;
  readonly #firstSeen = new Map<string, number>();
  /** Attempts whose end may or may not be in the log: it is recorded again, or a failure might never be counted. */
  readonly #unanswered = new Map<string, Loss>();

  readonly #logThrottle: LogThrottle;

  constructor(parts: LostAttemptsParts) {
    this.#parts = parts;
    this.#logThrottle = new LogThrottle(parts.clock);
  }

  /** Gives up the attempts lost by now. Leases run from when this process saw them, anew after an outage. */
  async giveUp(): Promise<void> {
    const now = this.#parts.clock.monotonic();
    const { reachableSince } = this.#parts.reach;
    const { workers } = this.#parts;
    // The number of a withdrawn attempt is used again: the start tells attempts apart.
    const leases = (await this.#parts.dueIndex.leases()).map((lease) =>
      ({ ...lease, key: `${lease.key}/${lease.startedAt}` }));
    // An answer that took long may tell of attempts that began after it was asked for.
    const seenAt = this.#parts.clock.monotonic();
    const keys = new Set<string>();
    const lost = new Map<string, LeaseDocument>();
    for (const lease of leases) {
      const { key } = lease;
      const leaseMs = millis(lease.leaseUntil) - millis(lease.startedAt);
      keys.add(key);
      const seen = this.#firstSeen.get(key);
      if (seen === undefined && workers.isGone(lease.worker)) lost.set(key, lease);
      else if (seen === undefined) this.#firstSeen.set(key, seenAt);
      else if (now - Math.max(seen, reachableSince) >= leaseMs) lost.set(key, lease);
    }
    for (const { key } of lost.size > 0 ? await workers.held([...lost.values()]) : []) lost.delete(key);
    for (const [key, { lease }] of this.#unanswered) lost.set(key, lease);
    for (const key of this.#firstSeen.keys()) if (!keys.has(key)) this.#firstSeen.delete(key);
    // A lost worker may leave thousands of attempts: one by one they would take long.
    const some = pLimit(givenUpAtOnce);
    const tasks = [...lost.values()].map((lease) => some(() => this.#tryToGiveUp(lease, now)));
    const ends = await Promise.allSettled(tasks);
    // The next call must not look for them again before all have ended.
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
  }

  async #tryToGiveUp(lease: LeaseDocument, now: number): Promise<void> {
    try {
      await this.#giveUp(lease);
    } catch (error) {
      // An attempt whose own record cannot be read must not hold up the others; it gets another lease's time.
      if (!(error instanceof Refusal)) throw error;
      const { key, eventId, attempt } = lease;
      this.#firstSeen.set(key, now);
      this.#unanswered.delete(key);
      const { logger, metrics } = this.#parts;
      metrics.anomaly("attempt not given up");
      this.#logThrottle.tell(
        error.message,
        (reason) => logger.warn({ reason, eventId, attempt }, "a lost attempt cannot be given up"),
        (reason, attempts) => logger.warn({ reason, attempts }, "more lost attempts cannot be given up"),
      );
    }
  }

  async #giveUp(lease: LeaseDocument): Promise<void> {
    const { logger, metrics } = this.#parts;
    const { key, attempt, worker } = lease;
    const loss = this.#unanswered.get(key) ?? (await this.#lossOf(lease));
    if (!loss) return;
    this.#unanswered.set(key, loss);
    const { status, isOwn } = await loss.recording.finish();
    this.#unanswered.delete(key);
    // The attempt was not lost, or another process has given it up.
    if (!isOwn) return;
    const { reason, error } = outcomeUnknown;
    metrics.attempt("failed", reason, null);
    const { state: { id: eventId, tenantId, destinationId }, correlationId, host } = loss;
    logger.warn(
      {
        eventId, tenantId, destinationId, correlationId, attempt, host, outcome: "failed", reason, error, status,
        worker,
      },
      "attempt given up: outcome unknown",
    );
  }

  /** The loss to record; undefined where the attempt has ended, or its worker may still record an outcome. */
  async #lossOf(lease: LeaseDocument): Promise<Loss | undefined> {
    const { store, outcomes } = this.#parts;
    const { attempt } = lease;
    const { reachableSince } = this.#parts.reach;
    const { state, revision, facts } = await loadWebhook(store, lease.eventId);
    if (!state?.open.includes(attempt)) return undefined;
    // The log was unreachable meanwhile: the attempt's worker may be about to record its outcome.
    if (this.#parts.reach.reachableSince !== reachableSince) return undefined;
    const origin: Origin = { actor: { type: "service", part: "sweeper" }, ...referencesOf(state, facts) };
    const recording = outcomes.recording({ known: { state, revision }, attempt, outcome: outcomeUnknown, origin });
    return { lease, state, recording, correlationId: origin.correlationId, host: hostOf(facts, attempt) };
  }
}

function hostOf(facts: readonly WebhookEvent[], attempt: number): string {
  const started = facts.find((fact) =>
    fact.type === "DeliveryAttemptStarted" && fact.data.attempt === attempt);
  return URL.parse(started?.type === "DeliveryAttemptStarted" ? started.data.url : "")?.host ?? "";
}
