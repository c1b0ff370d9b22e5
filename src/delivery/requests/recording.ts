import { isDeepStrictEqual } from "node:util";
import { type CircuitCommand, changeCircuit } from "../../features/circuits/facts.ts";
import { destinations, type Destination } from "../../features/destinations/facts.ts";
import type { DestinationRetryPolicy } from "../../features/destinations/policy.ts";
import { decide as decideWebhook, type RetryPolicy } from "../../features/events/decide.ts";
import {
  countsForCircuit, evolve, isLate, type Webhook, type WebhookEvent, type WebhookState,
} from "../../features/events/facts.ts";
import { countFinished, loadWebhook, type LoadedWebhook } from "../../features/events/webhooks.ts";
import { tenants, type Tenant } from "../../features/tenants/facts.ts";
import { durationMs } from "../../kernel/domain/duration.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { dayMs, type Timestamp } from "../../kernel/domain/time.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import { unlessNewer } from "../../kernel/log/unreadable.ts";
import { type Clock, timestampNow } from "../../kernel/ports/clock.ts";
import {
  RevisionConflict, type Appended, type AppendOptions, type EventStore,
} from "../../kernel/ports/event-store.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { Logger, Metrics } from "../../kernel/ports/telemetry.ts";
import { onceKnown } from "../../kernel/tools/once-known.ts";
import type { SendOutcome, outcomeUnknown } from "./outcome.ts";

/** How many of a circuit's newest facts are looked through for one whose append was not answered. */
const looked = 100;

/** The result of recording an outcome. */
export interface Recorded {
  readonly status: Webhook["status"];
  /** False where another process has ended the attempt: that one counts and reports it. */
  readonly isOwn: boolean;
}

/** The settings that say whether an attempt is followed by another, and what its failure does to the circuit. */
interface Settings {
  readonly tenant: Pick<Tenant, "maxTrys" | "circuitBreakerTimer">;
  /** Undefined for a destination that is not in the log. */
  readonly destination: Pick<Destination, "retryPolicy" | "circuit"> | undefined;
}

/** An attempt that is over. `mayWait`: its record may be written some milliseconds later. */
export interface Ended extends AppendOptions {
  /** Its event as it stood after the attempt's start. */
  readonly known: { readonly state: Webhook; readonly revision: number };
  readonly attempt: number;
  readonly outcome: SendOutcome | typeof outcomeUnknown;
  /** Tenant and destination when the attempt was claimed, for when only a newer release can read one of them by now. */
  readonly claimedFor?: Settings;
  /** Returns until when the receiver wants no new attempt, at the moment of the call. Absent if that is not known. */
  readonly pausedUntil?: () => Timestamp | null;
  readonly origin: Origin;
}

interface Written extends Recorded {
  /** Whether the attempt had been given up, or its event resent. */
  readonly late: boolean;
  /** The facts of the outcome that this origin wrote, as far as is known. */
  readonly facts: readonly WebhookEvent[];
}

interface OutcomeParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly retry: RetryPolicy;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "finished">;
}

/** Writes the ends of attempts into the log. */
export class Outcomes {
  readonly #parts: OutcomeParts;

  constructor(parts: OutcomeParts) {
    this.#parts = parts;
  }

  /**
   * Takes an attempt back that was not made; null where it ended otherwise meanwhile. Throws LogUnavailable, an
   * UnreadableRecord; then it may be called again.
   */
  async withdraw(
    { known, attempt, origin }: Pick<Ended, "known" | "attempt" | "origin">, error: string,
  ): Promise<Appended | null> {
    const { store, clock, ids } = this.#parts;
    let { state, revision } = known;
    for (;;) {
      const facts = decideWebhook(state, { type: "Withdraw", attempt, error, at: timestampNow(clock) });
      if (facts.length === 0) return null;
      try {
        return await store.append(streams.event(state.id), revision, entriesOf(facts, origin, ids));
      } catch (conflict) {
        if (!(conflict instanceof RevisionConflict)) throw conflict;
        const newer = await loadSince(store, state.id, revision);
        if (!newer) return null;
        ({ state, revision } = newer);
      }
    }
  }

  recording(ended: Ended): Recording {
    return new Recording(this.#parts, ended);
  }
}

/** The recording of how an attempt ended: in the event's own stream, then in the destination's circuit. */
export class Recording {
  readonly #parts: OutcomeParts;
  readonly #ended: Ended;
  #begun = false;

  constructor(parts: OutcomeParts, ended: Ended) {
    this.#parts = parts;
    this.#ended = ended;
  }

  /** Records the outcome; repeated until it resolves, it counts once. Throws LogUnavailable, an UnreadableRecord. */
  async finish(): Promise<Recorded> {
    const again = this.#begun;
    this.#begun = true;
    const { known: { state: { id: eventId } }, outcome: { ok } } = this.#ended;
    const settings = await this.#settings();
    // First: after a crash in between, the count of failures has ended; the other way round it would go on.
    if (ok && !this.#isTest) {
      await this.#tellCircuit({ type: "EndCount", eventId, at: timestampNow(this.#parts.clock) });
    }
    const { status, isOwn, late, facts } = await this.#write(settings, again);
    if (isOwn) {
      await this.#count(late, settings, again);
      // Last: a call that is repeated after any failure above gets here once.
      countFinished(this.#parts.metrics, facts);
    }
    return { status, isOwn };
  }

  async #count(late: boolean, { tenant, destination }: Settings, again: boolean): Promise<void> {
    const { known: { state: { id: eventId, destinationId } }, outcome, pausedUntil, origin } = this.#ended;
    if (again && (await this.#isCounted(destinationId, origin))) return;
    const at = timestampNow(this.#parts.clock);
    const { failures: maxTrys, timer: timerS } =
      destination?.circuit ?? { failures: tenant.maxTrys, timer: tenant.circuitBreakerTimer };
    const counts = !this.#isTest && (outcome.ok || countsForCircuit(outcome));
    await this.#tellCircuit(counts
      ? { type: "Record", ok: outcome.ok, late, eventId, maxTrys, timerS, at }
      : { type: "EndUncounted", late, eventId, pausedUntil: outcome.ok ? null : pausedUntil?.() ?? null, at });
  }

  /** Of a test event's attempt the circuit learns only that the receiver asked for a pause. */
  get #isTest(): boolean {
    return this.#ended.known.state.test;
  }

  /** A deleted destination has no circuit any more. */
  #tellCircuit(command: CircuitCommand): unknown {
    const { known: { state: { tenantId, destinationId } }, origin } = this.#ended;
    const tell = () => onceKnown(this.#readDeleted(destinationId), (deleted) =>
      !deleted && changeCircuit(this.#parts, { tenantId, destinationId }, origin, command));
    return unlessNewer(tell, () => false);
  }

  async #write(settings: Settings, again: boolean): Promise<Written> {
    const { store, clock, ids, retry } = this.#parts;
    const { known, attempt, outcome, origin, mayWait = false } = this.#ended;
    let { state, revision } = known;
    let before: Omit<Written, "status"> = { isOwn: false, late: false, facts: [] };
    for (;;) {
      const at = timestampNow(clock);
      const facts = decideWebhook(state, outcome.ok
        ? { type: "Succeed", attempt, ...outcome, at }
        : {
          type: "Fail", attempt, ...outcome,
          policy: retriesOf(retry, settings),
          destinationDeleted: await this.#isDeleted(state.destinationId),
          random: ids.random(),
          at,
        });
      const last = facts.at(-1);
      // Nothing left to record: another process was first, or only the answer to this very outcome's append was lost.
      if (!last) return { status: state.status, ...before };
      const late = isLate(state, attempt);
      try {
        await store.append(streams.event(state.id), revision, entriesOf(facts, origin, ids), { mayWait });
        return { status: "to" in last.data ? last.data.to : state.status, isOwn: true, late, facts };
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
        const newer = await loadSince(store, state.id, revision);
        if (!newer) {
          // The event is purged, with any outcome in it. A failure may not have been written; a success stands anyway.
          return { status: state.status, isOwn: again && outcome.ok, late: true, facts: [] };
        }
        ({ state, revision } = newer);
        before = writtenBefore(newer.facts, this.#ended, again);
      }
    }
  }

  /** Whether the circuit's stream holds this outcome: no other attempt has its origin. */
  async #isCounted(destinationId: string, { causationId }: Origin): Promise<boolean> {
    const { store } = this.#parts;
    const newest = await store.readStream(streams.circuit(destinationId), { backwards: true, limit: looked });
    return newest.some((entry) => entry.unreadable === undefined && entry.metadata.causationId === causationId);
  }

  #isDeleted(destinationId: string): boolean | Promise<boolean> {
    const read = () => this.#readDeleted(destinationId);
    return this.#ended.claimedFor ? unlessNewer(read, () => false) : read();
  }

  #readDeleted(destinationId: string): boolean | Promise<boolean> {
    return onceKnown(this.#parts.aggregates.read(destinations, destinationId), ({ state }) => state?.deleted ?? true);
  }

  #settings(): Settings | Promise<Settings> {
    const { claimedFor, known: { state: { tenantId, destinationId } } } = this.#ended;
    const { aggregates } = this.#parts;
    const read = () => onceKnown(aggregates.read(tenants, tenantId), ({ state: tenant }) => {
      if (!tenant) throw new Error(`tenant ${tenantId} of an event is not in the log`);
      return onceKnown(aggregates.read(destinations, destinationId), ({ state: destination }) =>
        ({ tenant, destination }));
    });
    return claimedFor ? unlessNewer(read, () => claimedFor) : read();
  }
}

/** The destination's retry policy, or else the relay's schedule and the tenant's maxTrys. */
function retriesOf(relay: RetryPolicy, { tenant, destination }: Settings) {
  const { schedule, maxTrys = tenant.maxTrys, retryOn }: Partial<DestinationRetryPolicy> =
    destination?.retryPolicy ?? {};
  const scheduleMs = schedule?.map((wait) => durationMs(wait) ?? dayMs) ?? relay.scheduleMs;
  return { ...relay, scheduleMs, maxTrys, retryOn };
}

/** The event, changed since a revision; undefined if it was purged meanwhile. */
async function loadSince(
  store: EventStore, eventId: string, revision: number,
): Promise<(LoadedWebhook & { readonly state: Webhook }) | undefined> {
  const { state, ...loaded } = await loadWebhook(store, eventId);
  // A stream that begins after the known revision is another event's, accepted after this one was purged.
  const [first] = loaded.facts;
  return state && !(first && first.revision > revision) ? { ...loaded, state } : undefined;
}

function writtenBefore(
  facts: LoadedWebhook["facts"], { attempt, origin: { actor, causationId } }: Ended, again: boolean,
): Omit<Written, "status"> {
  const at = facts.findLastIndex(({ type, data }) =>
    (type === "DeliverySucceeded" || type === "DeliveryFailed") && data.attempt === attempt);
  const start = Math.max(0, at);
  const earlier = facts.slice(0, start);
  const before = earlier.reduce<WebhookState>((state, fact) => evolve(state, fact), undefined);
  const isOwn = ({ metadata: by }: LoadedWebhook["facts"][number]) =>
    by.causationId === causationId && isDeepStrictEqual(by.actor, actor);
  const outcome = facts[at];
  return {
    isOwn: again && outcome !== undefined && isOwn(outcome),
    late: before === undefined || isLate(before, attempt),
    facts: facts.slice(start).filter(isOwn),
  };
}
