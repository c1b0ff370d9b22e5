import { destinations, tenants } from "../../application/aggregate-types.ts";
import type { Aggregates } from "../../application/aggregates.ts";
import { Condensed } from "../../application/condensed.ts";
import type { Outcome, Outcomes } from "../../application/delivery/outcomes.ts";
import type { Sender } from "../../application/delivery/sender.ts";
import { countFinished } from "../../application/finishing.ts";
import { entriesOf, type Origin } from "../../application/origin.ts";
import { loadWebhook } from "../../application/webhooks.ts";
import type { Destination } from "../../domain/destination/state.ts";
import { decide } from "../../domain/event/decide.ts";
import { evolve, type Webhook, type WebhookState } from "../../domain/event/state.ts";
import { Refusal } from "../../domain/refusal.ts";
import { streams } from "../../domain/streams.ts";
import type { Tenant } from "../../domain/tenant/state.ts";
import { millis, timestamp } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";
import {
  RevisionConflict, type Appended, type EventStore, type NewEntry, type Position,
} from "../../ports/event-store.ts";
import type { Ids } from "../../ports/ids.ts";
import { Pause } from "../../ports/pause.ts";
import type { Logger, Metrics } from "../../ports/telemetry.ts";
import type { FirstAttempt } from "../../ports/work-queue.ts";
import type { Known, Reserved, Result, Start, Unclaimed, Work } from "./work.ts";

/** A lease outlasts the deadline by this much; a claim that took longer than it is not acted on. */
const leaseMarginMs = 5_000;
const recordAgainAfterMs = 500;
const lookAgainAfterMs = 250;

interface AttemptParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly outcomes: Outcomes;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly workerId: string;
  readonly deliveryTimeoutMs: number;
}

type Claimed = Start & Known;

/** Makes attempts: claims by an append at the expected revision, sends, records what came of it. */
export class Attempts {
  readonly #parts: AttemptParts;
  readonly #pause: Pause;
  readonly #condensed: Condensed;
  readonly #hosts = new WeakMap<Destination, string>();
  /** How long an attempt is leased, milliseconds. */
  readonly leaseMs: number;
  /** The newest position this worker wrote: an index that has come this far knows all that was finished. */
  lastPosition: Position = "";

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.#pause = new Pause(parts.clock);
    this.#condensed = new Condensed(parts.clock);
    this.leaseMs = parts.deliveryTimeoutMs + leaseMarginMs;
  }

  /** One attempt, unless the event does not wait any more or another worker was first. Throws LogUnavailable. */
  async run(work: Work, probe: boolean): Promise<Result> {
    const claimed = work.kind === "reserved" ? await this.#claimedWith(work) : await this.#claim(work, probe);
    if (typeof claimed === "string") return claimed;
    await this.#carryOut(claimed);
    return "done";
  }

  /** The first attempt of an event, to be claimed by the append of the entry that accepts it. */
  first(event: Webhook, accepted: NewEntry): Start | undefined {
    const { aggregates } = this.#parts;
    const destination = aggregates.peek(destinations, event.destinationId);
    const tenant = aggregates.peek(tenants, event.tenantId)?.state;
    if (!destination?.state || !tenant) return undefined;
    const { correlationId } = accepted.metadata;
    const known = { state: event, causationId: accepted.id, correlationId };
    return this.#start(known, { ...destination, state: destination.state }, tenant, false, millis(event.acceptedAt));
  }

  /** Cancels an event whose destination was deleted. Throws LogUnavailable. */
  async cancel(work: Unclaimed): Promise<Result> {
    const known = await this.#know(work);
    if (typeof known === "string") return known;
    const at = timestamp(this.#parts.clock.now());
    const facts = decide(known.state, { type: "Cancel", reason: "destination deleted", at });
    const entries = entriesOf(facts, this.#origin(known), this.#parts);
    if (!(await this.#append(known, entries))) return "nothing to do";
    countFinished(this.#parts.metrics, facts);
    return "done";
  }

  async #claimedWith({ start, outcome }: Reserved): Promise<Claimed | Result> {
    const accepted = await outcome;
    if (accepted === "refused") return "nothing to do";
    if (accepted === "unknown") return this.#lookFor(start);
    this.#wrote(accepted.position);
    return { ...start, revision: accepted.revision };
  }

  /** Looks for a claim whose append was not answered, until the log has said twice that it is not there. */
  async #lookFor(start: Start): Promise<Claimed | Result> {
    const { clock, store } = this.#parts;
    for (let absent = 0; absent < 2 && clock.monotonic() - start.claimedFrom < this.leaseMs;) {
      await this.#pause.wait(lookAgainAfterMs);
      const entries = await store.readStream(streams.event(start.state.id)).catch(() => null);
      const claim = entries?.find(({ id }) => id === start.causationId);
      if (claim) {
        this.#wrote(claim.position);
        return { ...start, revision: claim.revision };
      }
      if (entries) absent += 1;
    }
    return "nothing to do";
  }

  async #claim(work: Unclaimed, probe: boolean): Promise<Claimed | Result> {
    const { aggregates, clock } = this.#parts;
    const known = await this.#know(work);
    if (typeof known === "string") return known;
    const { state, revision } = await aggregates.read(destinations, known.state.destinationId);
    const tenant = (await aggregates.read(tenants, known.state.tenantId)).state;
    if (!state || !tenant) return "nothing to do";
    const start = this.#start(known, { state, revision }, tenant, probe, clock.now());
    const appended = start && (await this.#append(known, start.entries));
    return appended ? { ...start, revision: appended.revision } : "nothing to do";
  }

  /** What claims an attempt at `at` (ms since 1970), or undefined where the event waits for none. */
  #start(
    known: Omit<Known, "revision">,
    destination: { readonly state: Destination; readonly revision: number },
    tenant: Tenant,
    probe: boolean,
    at: number,
  ): Start | undefined {
    const facts = decide(known.state, {
      type: "StartAttempt",
      with: {
        leaseUntil: timestamp(at + this.leaseMs),
        worker: this.#parts.workerId,
        url: destination.state.url,
        authType: destination.state.auth?.type ?? null,
        destinationRevision: destination.revision,
        secretFingerprint: tenant.webhookSecretFingerprint,
        probe,
      },
      at: timestamp(at),
    });
    const entries = entriesOf(facts, this.#origin(known), this.#parts);
    const [started] = entries;
    const state = facts.reduce<WebhookState>(evolve, known.state);
    if (!started || !state) return undefined;
    return {
      entries, state, causationId: started.id, correlationId: known.correlationId,
      destination: destination.state, tenant, claimedFrom: this.#parts.clock.monotonic(),
    };
  }

  /** Sends what is claimed and records what came of it. */
  async #carryOut({ destination, tenant, claimedFrom, ...claimed }: Claimed): Promise<void> {
    const { clock, metrics, sender } = this.#parts;
    const { state } = claimed;
    const claimMs = clock.monotonic() - claimedFrom;
    if (state.attempts === 1) metrics.firstAttemptDelay(Math.max(0, clock.now() - millis(state.acceptedAt)) / 1000);
    const delivery = { webhook: state, attempt: state.attempts, destination, tenant };
    // Another worker may hold a late one for lost before it could be over.
    const outcome = claimMs > leaseMarginMs ? notSent(claimMs) : await sender.send(delivery);
    await this.#record(claimed, outcome, destination);
  }

  async #know(work: Unclaimed): Promise<Known | Result> {
    if (work.kind === "first") return fresh(work.item) ?? "nothing to do";
    const { store, logger, metrics } = this.#parts;
    const { eventId } = work;
    const loaded = await loadWebhook(store, eventId).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      metrics.trouble("event not readable");
      logger.error({ eventId }, "an event cannot be read: it is passed over");
    });
    if (!loaded) return "unreadable";
    const { state, revision, facts } = loaded;
    if (!state) return "nothing to do";
    const correlationId = facts[0]?.metadata.correlationId ?? state.id;
    return { state, revision, causationId: facts.at(-1)?.id ?? null, correlationId };
  }

  /** Null when another was first, or there was nothing to append. */
  async #append({ state, revision }: Known, entries: readonly NewEntry[]): Promise<Appended | null> {
    if (entries.length === 0) return null;
    try {
      const appended = await this.#parts.store.append(streams.event(state.id), revision, entries);
      this.#wrote(appended.position);
      return appended;
    } catch (error) {
      if (error instanceof RevisionConflict) return null;
      throw error;
    }
  }

  #wrote(position: Position): void {
    if (position > this.lastPosition) this.lastPosition = position;
  }

  /** The receiver has seen the request: its outcome is recorded however long the log is away. */
  async #record(known: Known, outcome: Outcome, destination: Destination): Promise<void> {
    const { outcomes, logger, metrics } = this.#parts;
    const { state } = known;
    const attempt = state.attempts;
    let status: string | undefined;
    for (let again = false; status === undefined; again = true) {
      try {
        status = await outcomes.record(known, attempt, outcome, this.#origin(known), again);
      } catch (error) {
        this.#tell(error, state.id, attempt);
        await this.#pause.wait(recordAgainAfterMs);
      }
    }
    const reason = outcome.ok ? "none" : outcome.reason;
    metrics.attempt(outcome.ok ? "succeeded" : "failed", reason, outcome.durationMs / 1000);
    logger.info(
      {
        eventId: state.id,
        tenantId: state.tenantId,
        destinationId: state.destinationId,
        correlationId: known.correlationId,
        attempt,
        host: this.#hostOf(destination),
        outcome: outcome.ok ? "succeeded" : "failed",
        ...(outcome.ok ? {} : { reason: outcome.reason, error: outcome.error }),
        statusCode: outcome.answer?.statusCode,
        durationMs: outcome.durationMs,
        status,
      },
      "delivery attempt",
    );
  }

  /** A log that is away keeps every attempt under way from being recorded, again and again. */
  #tell(error: unknown, eventId: string, attempt: number): void {
    const { logger } = this.#parts;
    this.#condensed.tell(
      String(error),
      () => logger.error({ err: error, eventId, attempt }, "an outcome could not be recorded yet"),
      (reason, times) => logger.error({ reason, times }, "outcomes could not be recorded yet"),
    );
  }

  #hostOf(destination: Destination): string {
    let host = this.#hosts.get(destination);
    if (host === undefined) this.#hosts.set(destination, (host = URL.parse(destination.url)?.host ?? ""));
    return host;
  }

  #origin(known: Pick<Known, "correlationId" | "causationId">): Origin {
    const { correlationId, causationId } = known;
    return { actor: { type: "service", part: `delivery/${this.#parts.workerId}` }, correlationId, causationId };
  }
}

function notSent(claimMs: number): Outcome {
  return {
    ok: false,
    reason: "not sent",
    error: `nothing was sent: the log took ${Math.round(claimMs)} ms to take the claim`,
    durationMs: 0,
    requestHeaders: {},
    answer: null,
    retryAfterMs: null,
  };
}

/** The event of a first work item, as its stream stands when nothing has happened since its acceptance. */
function fresh(item: FirstAttempt): Known | undefined {
  const { acceptedAt: at, causationId, correlationId } = item;
  const state = evolve(undefined, {
    type: "EventAccepted",
    data: { ...item, apiKeyId: "", senderId: null, original: null, at },
  });
  return state && { state, revision: item.revision, causationId, correlationId };
}
