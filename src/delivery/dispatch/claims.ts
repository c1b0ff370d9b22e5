import { destinations, expiredBefore, longestTimeoutMs, type Destination } from "../../features/destinations/facts.ts";
import { decide, type WebhookCommand } from "../../features/events/decide.ts";
import { evolve, isFinished, type Webhook, type WebhookState } from "../../features/events/facts.ts";
import {
  countFinished, entriesAfter, loadDue, referencesOf, type LoadedWebhook,
} from "../../features/events/webhooks.ts";
import { tenants, type Tenant } from "../../features/tenants/facts.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { millis, timestamp } from "../../kernel/domain/time.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import { UnreadableRecord } from "../../kernel/log/unreadable.ts";
import { type Clock, sleep, timestampNow } from "../../kernel/ports/clock.ts";
import {
  LogUnavailable, RevisionConflict, type Appended, type EventStore, type NewEntry, type Position,
} from "../../kernel/ports/event-store.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import type { Logger, Metrics } from "../../kernel/ports/telemetry.ts";
import type { FirstAttempt } from "../../kernel/ports/work-queue.ts";
import type { Freshness } from "../../kernel/read-models/freshness.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import { fingerprintsOf, isSignedOtherwise } from "../requests/signing.ts";
import {
  type Hold, originOf, type Claimed, type Known, type Miss, type Reserved, type Start, type Unclaimed, type Work,
} from "./work.ts";

/** A lease outlasts the attempt's timeout by this margin; an attempt whose claim took longer than it is not sent. */
export const leaseMarginMs = 5_000;
const lookAgainAfterMs = 1_000;

interface ClaimParts {
  readonly store: EventStore;
  readonly readModels: Pick<ReadModels, "get">;
  readonly freshness: Pick<Freshness, "ask">;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly workerId: string;
  readonly deliveryTimeoutMs: number;
}

/** Claims an attempt by an append at the revision it read: only one append succeeds, so only one worker sends. */
export class Claims {
  readonly #parts: ClaimParts;
  readonly #logThrottle: LogThrottle;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
    this.#logThrottle = new LogThrottle(parts.clock);
  }

  /** How long the lease of an attempt to a destination lasts. */
  leaseMs({ timeoutMs }: Pick<Destination, "timeoutMs">): number {
    return (timeoutMs ?? this.#parts.deliveryTimeoutMs) + leaseMarginMs;
  }

  /** The lease that no attempt outlasts, whatever timeout its destination had when it was claimed. */
  get longestLeaseMs(): number {
    return Math.max(this.#parts.deliveryTimeoutMs, longestTimeoutMs) + leaseMarginMs;
  }

  /** Claims one attempt, unless another worker was first. `mayClaim` is called right before the append. */
  claim(
    work: Work, probe: boolean, mayClaim: (destination: Destination) => boolean, held?: Hold,
  ): Promise<Claimed | Miss> {
    return work.kind === "reserved" ? this.#reserved(work) : this.#claim(work, probe, mayClaim, held);
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

  /** Why an event cannot be a probe, before an attempt is claimed; undefined where it can. Throws LogUnavailable. */
  async missOf(work: Unclaimed): Promise<Miss | undefined> {
    const known = await this.#know(work);
    if (typeof known === "string") return known;
    return known.state.test ? "nothing to do" : undefined;
  }

  /** Cancels an event whose destination was deleted. Throws LogUnavailable. */
  async cancel(work: Unclaimed): Promise<Appended | Miss> {
    const known = await this.#know(work);
    if (typeof known === "string") return known;
    const at = timestampNow(this.#parts.clock);
    return this.#cancelBy(known, { type: "Cancel", reason: "destination deleted", at });
  }

  async #cancelBy(known: Known, command: WebhookCommand): Promise<Appended | Miss> {
    const facts = decide(known.state, command);
    const entries = entriesAfter(known, facts, originOf(known, this.#parts.workerId), this.#parts.ids);
    const appended = await this.#append(known, entries);
    if (!appended) return "nothing to do";
    countFinished(this.#parts.metrics, facts);
    return appended;
  }

  async #claim(
    work: Unclaimed, probe: boolean, mayClaim: (destination: Destination) => boolean, held?: Hold,
  ): Promise<Claimed | Miss> {
    const { aggregates, clock } = this.#parts;
    const known = await this.#know(work);
    if (typeof known === "string") return known;
    const tenant = (await aggregates.read(tenants, known.state.tenantId)).state;
    const { state, revision } = await aggregates.read(destinations, known.state.destinationId);
    if (!state || !tenant) return "nothing to do";
    if (!mayClaim(state)) return "not ours";
    if (hasPlace(work, known.state, state)) return "not ours";
    const before = expiredBefore(state, clock.now());
    if (before !== null && known.state.waitsSince <= before) {
      const cancelled = await this.#cancelBy(known, { type: "Expire", before, at: timestampNow(clock) });
      return typeof cancelled === "string" ? cancelled : "over";
    }
    const start = this.#start(known, { state, revision }, tenant, probe, clock.now(), held);
    if (!start) return "nothing to do";
    try {
      const appended = await this.#append(known, start.entries);
      return appended ? { ...start, ...appended } : "nothing to do";
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error;
      const claimed = await this.#lookFor(start);
      if (claimed) return claimed;
      throw error;
    }
  }

  async #reserved({ start, outcome }: Reserved): Promise<Claimed | Miss> {
    const accepted = await outcome;
    if (accepted === "refused") return "nothing to do";
    if (accepted === "unknown") return (await this.#lookFor(start)) ?? "nothing to do";
    return { ...start, ...accepted };
  }

  /** Looks for a claim whose append was not answered, until the log has said twice that it is not there. */
  async #lookFor(start: Start): Promise<Claimed | undefined> {
    const { clock, store } = this.#parts;
    for (let absent = 0; absent < 2;) {
      await sleep(clock, lookAgainAfterMs);
      const entries = await store.readStream(streams.event(start.state.id)).catch(() => null);
      const claim = entries?.find(({ id }) => id === start.causationId);
      if (claim) return { ...start, revision: claim.revision, position: claim.position };
      if (entries) absent += 1;
    }
    return undefined;
  }

  async #know(work: Unclaimed): Promise<Known | Miss> {
    if (work.kind === "first") return fresh(work.item) ?? "nothing to do";
    const { eventId } = work;
    const loaded = await loadDue(this.#parts, eventId).catch((error: unknown) => {
      if (!(error instanceof UnreadableRecord)) throw error;
      this.#passOver(eventId, error);
    });
    if (!loaded) return "unreadable";
    const { state, revision, facts } = loaded;
    if (!state) return "gone";
    if (work.place && (isFinished(state.status) || work.place.position !== placedIn(facts))) return "over";
    return { state, revision, ...referencesOf(state, facts) };
  }

  /** Logs each damaged event, but not each event of a newer release: there may be thousands. */
  #passOver(eventId: string, { newer }: UnreadableRecord): void {
    const { logger, metrics } = this.#parts;
    metrics.anomaly("event not readable");
    if (!newer) return logger.error({ eventId }, "an event cannot be read: it is passed over");
    this.#logThrottle.tell(
      "newer",
      () => logger.warn({ eventId }, "an event waits for a process of the newer release that wrote a part of it"),
      (_, events) => logger.warn({ events }, "more events wait for a process of a newer release"),
    );
  }

  /** The claim of an attempt at `at` (ms since 1970), or undefined where the event waits for no attempt. */
  #start(
    known: Omit<Known, "revision"> & Partial<Pick<Known, "revision">>,
    destination: { readonly state: Destination; readonly revision: number },
    tenant: Tenant,
    probe: boolean,
    at: number,
    held?: Hold,
  ): Start | undefined {
    const { nextAttemptAt } = known.state;
    const waited = held !== undefined && nextAttemptAt !== null && millis(nextAttemptAt) < held.until;
    const signed = { destination: destination.state, tenant };
    const facts = decide(known.state, {
      type: "StartAttempt",
      with: {
        leaseUntil: timestamp(at + this.leaseMs(destination.state)),
        worker: this.#parts.workerId,
        url: destination.state.url,
        authType: destination.state.auth?.type ?? null,
        destinationRevision: destination.revision,
        secretFingerprint: tenant.webhookSecretFingerprint,
        probe,
        ...(waited && { waitedFor: held.reason }),
        ...(isSignedOtherwise(signed) && fingerprintsOf(signed, timestamp(at))),
      },
      at: timestamp(at),
    });
    const entries = entriesAfter(known, facts, originOf(known, this.#parts.workerId), this.#parts.ids);
    const started = entries.at(-1);
    const state = facts.reduce<WebhookState>(evolve, known.state);
    if (!started || !state) return undefined;
    return {
      entries, state, causationId: started.id, correlationId: known.correlationId,
      destination: destination.state, tenant, claimedFrom: this.#parts.clock.monotonic(),
    };
  }

  async #append({ state, revision }: Known, entries: readonly NewEntry[]): Promise<Appended | null> {
    if (entries.length === 0) return null;
    try {
      return await this.#parts.store.append(streams.event(state.id), revision, entries);
    } catch (error) {
      if (error instanceof RevisionConflict) return null;
      throw error;
    }
  }
}

/** Whether work without a place in the order has one: read models that were just lost did not know of it. */
function hasPlace(work: Unclaimed, { slot, test }: Webhook, { ordering }: Destination): boolean {
  return ordering !== "none" && slot !== null && !test && !(work.kind === "due" && work.place);
}

/** The position of the fact that gave the event its place in the order. */
function placedIn(facts: LoadedWebhook["facts"]): Position | undefined {
  return facts.findLast(({ type }) => type === "EventAccepted" || type === "EventReplayed")?.position;
}

function fresh(item: FirstAttempt): Known | undefined {
  const { acceptedAt: at, causationId, correlationId } = item;
  const state = evolve(undefined, {
    type: "EventAccepted",
    data: { ...item, apiKeyId: "", senderId: null, senderRevision: null, original: null, at },
  });
  return state && { state, revision: item.revision, causationId, correlationId };
}
