import pLimit from "p-limit";
import type { LimitFunction } from "p-limit";
import { circuits, newCircuit, type Circuit } from "../../features/circuits/facts.ts";
import { destinations, type Destination } from "../../features/destinations/facts.ts";
import type { Webhook } from "../../features/events/facts.ts";
import type { ClaimOutcome, FirstClaim } from "../../features/ingest/first-attempts.ts";
import { tenants } from "../../features/tenants/facts.ts";
import { millis, type Timestamp } from "../../kernel/domain/time.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import { isNewer } from "../../kernel/log/unreadable.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { logStart, type NewEntry } from "../../kernel/ports/event-store.ts";
import type { QueueSession, WorkItem } from "../../kernel/ports/work-queue.ts";
import type { Attempts, Withdrawn } from "./attempts.ts";
import { Breaker } from "./breaker.ts";
import type { Claims } from "./claims.ts";
import { Ownership, type OwnershipParts } from "./ownership.ts";
import { Pace, type PaceTimer } from "./pace.ts";
import { ReceiverPause, RetryPause, type RetryPauseParts } from "./pauses.ts";
import type { PayloadBudget } from "./payload-budget.ts";
import { Probes, type ProbeParts } from "./probes.ts";
import { TestEvents } from "./test-events.ts";
import { WayOut, type WayOutParts } from "./way-out.ts";
import {
  Holds, lastOf, type AttemptEnd, type Claimed, type Ended, type Hold, type Miss, type Unclaimed, type Work,
} from "./work.ts";
import { windowSize, WorkWindow, type WindowParts } from "./work-window.ts";

/** Shared by all dispatchers of a worker. */
export interface DispatcherParts extends RetryPauseParts, ProbeParts, OwnershipParts, WindowParts, WayOutParts {
  readonly aggregates: Aggregates;
  readonly claims: Claims;
  readonly attempts: Attempts;
  readonly sendingBudget: PayloadBudget;
  readonly paceTimer: PaceTimer;
  /** Limits reads and claims of dispatchers that were woken: many may be woken at once. */
  readonly woken: LimitFunction;
  /** Limits those of dispatchers with work at hand, so that they do not wait for woken ones. */
  readonly atHand: LimitFunction;
}

interface KnownStanding {
  readonly destination: Destination;
  readonly circuit: Circuit;
  /** Why no attempt may begin, except a probe or one of a test event; null where attempts may. */
  readonly heldBy: "destination-inactive" | "receiver-pause" | "circuit-open" | "proxy" | null;
}

/** The cached destination and circuit, and the reason, if any, not to send. */
type Standing = KnownStanding | { readonly destination: undefined; readonly heldBy: "destination-inactive" };

/** Later than any planned attempt: all waiting events are due by then. */
const endOfTime = Date.UTC(9999, 0);

/** The deliveries of one destination in this worker, within its limit, circuit, pause and status. */
export class Dispatcher {
  readonly #destinationId: string;
  readonly #parts: DispatcherParts;
  readonly #ownership: Ownership;
  readonly #window: WorkWindow;
  readonly #probes: Probes;
  readonly #retryPause: RetryPause;
  /** For refills: while the due index is behind, work at hand goes on. */
  readonly #refillPause: RetryPause;
  readonly #pause: ReceiverPause;
  readonly #pace: Pace;
  readonly #breaker = new Breaker();
  readonly #holds: Holds;
  readonly #wayOut: WayOut;
  readonly #tests: TestEvents;
  /** The places of the destination's limit, for own attempts and for earlier owners' attempts under way. */
  readonly #places = pLimit(1);
  readonly #cancellations = pLimit(windowSize);
  readonly #underWay = new Set<Promise<unknown>>();
  #sending = 0;
  /** The end of the pause in which an event was held for a probe: none is looked for again before. */
  #heldInPause: Timestamp | undefined;
  #loading = false;
  /** A wake-up arrived; the cached destination and circuit may be stale, since the queue may be ahead of the feed. */
  #stale = false;
  #lastActive: number;

  constructor(destinationId: string, parts: DispatcherParts) {
    this.#destinationId = destinationId;
    this.#parts = parts;
    this.#ownership = new Ownership(destinationId, parts);
    this.#window = new WorkWindow(destinationId, parts);
    this.#probes = new Probes(parts);
    this.#holds = new Holds(parts.clock);
    this.#tests = new TestEvents(destinationId, parts);
    this.#retryPause = new RetryPause(destinationId, parts, () => {
      this.#holds.forget();
      this.#window.lookAgain();
      this.pump();
    });
    this.#refillPause = new RetryPause(destinationId, parts, () => this.pump());
    this.#pause = new ReceiverPause(parts.clock, () => this.pump());
    this.#wayOut = new WayOut(parts, this.#retryPause, () => this.pump());
    this.#pace = new Pace(parts, () => this.pump());
    this.#lastActive = parts.clock.monotonic();
  }

  offer(item: WorkItem, session: QueueSession): void {
    this.#ownership.join(session);
    this.#window.offer(item);
    if (item.kind === "wake") this.#tests.lookFor(item.position);
    if (item.kind === "wake" && item.position !== logStart) this.#stale = true;
    this.#lastActive = this.#parts.clock.monotonic();
  }

  /** Claims the first attempt of an event about to be accepted, if it may begin at once and no older event waits. */
  claimFirst(event: Webhook, accepted: NewEntry): FirstClaim | null {
    // In an ordered destination earlier events may not be known yet.
    const mayBegin = event.slot === null && this.#roomForFirst() > 0;
    const start = mayBegin && this.#parts.claims.first(event, accepted);
    if (!start) return null;
    const { promise: outcome, resolve: settle } = Promise.withResolvers<ClaimOutcome>();
    this.#startAttempt({ kind: "reserved", eventId: event.id, start, outcome });
    return { entries: start.entries, settle };
  }

  pump(): void {
    if (this.#retryPause.paused || !this.#ownership.alive) return;
    const standing = this.#standing();
    if (!standing) return this.#load();
    if (standing.destination?.deleted) return this.#cancelAll(standing.destination);
    if (standing.destination) this.#sendTests(standing);
    if (standing.heldBy === null) return this.#send(standing);
    if (this.#stale) return this.#load();
    if (standing.heldBy === "proxy") {
      this.#wayOut.look(standing);
      // For the moments of the first look at the proxy the work stays at hand.
      if (this.#wayOut.problem === null) return;
    }
    this.#holds.begin(standing.heldBy);
    if (standing.heldBy === "circuit-open") this.#probeWhenDue(standing);
    else if (standing.heldBy === "receiver-pause" || standing.heldBy === "proxy") this.#window.holdForPause();
    else this.#window.hold();
  }

  /** The destination stays this worker's, under a new membership. */
  carryOn(session: QueueSession): void {
    if (this.#ownership.session === undefined) return;
    this.#ownership.join(session);
    this.pump();
  }

  /** Starts nothing more until the destination comes back to this worker; attempts under way go on. */
  leave(): void {
    this.#ownership.leave();
    this.#holds.forget();
    this.#window.hold();
  }

  /** Whether nothing is under way or at hand, since `since` (monotonic ms). The sweeper finds other waiting events. */
  idleSince(since: number): boolean {
    return this.#places.activeCount === 0 && this.#window.idle && this.#lastActive <= since;
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /** Leaves the destination and cancels its timers. Call once it is {@link idleSince idle}. */
  drop(): void {
    this.leave();
    this.#pause.unwatch();
    this.#wayOut.unwatch();
    this.#breaker.drop();
  }

  /** Brings pause, limit and breaker up to the cached destination and circuit; undefined until these are known. */
  #standing(): Standing | undefined {
    const { aggregates, clock } = this.#parts;
    const destination = aggregates.peek(destinations, this.#destinationId);
    const cached = aggregates.peek(circuits, this.#destinationId);
    if (!this.#ownership.known || !destination || !cached) return undefined;
    const { state } = destination;
    if (!state) return { destination: undefined, heldBy: "destination-inactive" };
    const { tenantId, serverRateLimit, ratePerSecond } = state;
    if (!aggregates.peek(tenants, tenantId)) return undefined;
    const circuit = cached.state ?? newCircuit(this.#destinationId, tenantId);
    this.#pause.follow(circuit.pausedUntil);
    this.#breaker.follow(circuit, () => timestampNow(clock));
    this.#pace.follow(ratePerSecond);
    if (this.#places.concurrency !== serverRateLimit) this.#places.concurrency = serverRateLimit;
    return { destination: state, circuit, heldBy: this.#heldBy(state, circuit) };
  }

  #heldBy({ active, deleted }: Destination, { position }: Circuit): Standing["heldBy"] {
    if (!active || deleted) return "destination-inactive";
    if (this.#pause.until !== null && position !== "Open") return "receiver-pause";
    if (!this.#breaker.closed) return "circuit-open";
    return this.#wayOut.open ? null : "proxy";
  }

  #load(): void {
    if (this.#loading) return;
    this.#loading = true;
    const limit = this.#window.idle ? this.#parts.woken : this.#parts.atHand;
    void this.#retryPause.run(() => limit(async () => {
      const { aggregates } = this.#parts;
      if (!this.#ownership.known) await this.#ownership.learn((untilOver) => this.#leavePlace(untilOver));
      if (this.#stale) await this.#lookAgain();
      else {
        const { state } = await aggregates.read(destinations, this.#destinationId);
        await aggregates.read(circuits, this.#destinationId);
        if (state) await aggregates.read(tenants, state.tenantId);
      }
    })).then(() => {
      this.#loading = false;
      this.pump();
    });
  }

  /** An attempt of an earlier owner occupies a place until it must be over. */
  #leavePlace(untilOver: () => Promise<void>): void {
    void this.#places(untilOver).then(() => this.pump());
  }

  /** Reads the destination and its circuit from the log, once more after a wake-up meanwhile or an unavailable log. */
  async #lookAgain(): Promise<void> {
    const { aggregates } = this.#parts;
    this.#stale = false;
    try {
      await aggregates.current(destinations, this.#destinationId);
      await aggregates.current(circuits, this.#destinationId);
    } catch (error) {
      // The feed brings the entries that follow an entry of a newer release.
      this.#stale = !isNewer(error);
      throw error;
    }
  }

  /** Nothing is sent: an attempt still under way at the receiver holds up no cancellation. */
  #cancelAll(destination: Destination): void {
    const room = () => windowSize - this.#cancellations.activeCount;
    this.#flow(destination, room, (work) => this.#start(work, () => this.#cancellations(() => this.#cancel(work))));
  }

  #send({ destination, circuit }: KnownStanding): void {
    if (circuit.proxyProblem !== undefined) this.#wayOut.tellOfRecovery(circuit);
    const held = this.#holds.end();
    this.#flow(destination, () => this.#room(), (work) => this.#startAttempt(work, lastOf(work, held)));
    if (this.#window.clear) return;
    if (this.#freePlaces <= 0) this.#holds.begin("concurrency-limit");
    else if (!this.#pace.admits) {
      this.#holds.begin("rate-limit");
      this.#pace.wait();
    }
  }

  #probeWhenDue(standing: KnownStanding): void {
    const { destination, circuit } = standing;
    if (this.#breaker.probing) return;
    this.#window.hold();
    const pausedUntil = this.#pause.until;
    if (pausedUntil !== null && pausedUntil === this.#heldInPause) return;
    if (!this.#pace.admits) return this.#pace.wait();
    // Attempts that were under way when the circuit opened may outlast its timer.
    if (!this.#breaker.admits || this.#room() <= 0 || !this.#wayOut.look(standing)) return;
    const leaseMs = this.#parts.claims.leaseMs(destination);
    const probing = this.#retryPause.run(() => this.#breaker.fire(() => this.#probe(destination, circuit, leaseMs)));
    this.#underWay.add(probing);
    void probing.then((ended = "nothing to do") => {
      this.#underWay.delete(probing);
      if (ended !== "nothing to do" || this.#window.called) this.pump();
    });
  }

  /** Test events are sent in any state of destination and circuit, within the limit and the receiver's pause. */
  #sendTests(standing: KnownStanding): void {
    if (this.#pause.until !== null || (this.#tests.called && !this.#wayOut.look(standing))) return;
    while (this.#room() > 0) {
      const eventId = this.#tests.take();
      if (eventId === undefined) break;
      this.#pace.take();
      this.#startTest(eventId);
    }
    if (this.#tests.called && !this.#pace.admits) this.#pace.wait();
    if (!this.#tests.wanted || this.#refillPause.paused) return;
    const look = this.#tests.look();
    void this.#refillPause.run(() => this.#parts.woken(look)).then(() => {
      if (this.#tests.called) this.pump();
    });
  }

  #startTest(eventId: string): void {
    const work = { kind: "due", eventId } as const;
    void this.#retryPause.run(() => this.#track(work, () => this.#places(() => this.#attempt(work, false))))
      .then((ended) => {
        this.#tests.end(eventId, ended);
        this.pump();
      });
  }

  #flow(destination: Destination, room: () => number, start: (work: Unclaimed) => void): void {
    while (room() > 0) {
      const work = this.#window.take();
      if (!work) break;
      start(work);
    }
    if (!this.#window.low || this.#refillPause.paused) return;
    const { clock, woken } = this.#parts;
    const refill = this.#window.refill();
    void this.#refillPause.run(() => woken(() => refill(destination, destination.deleted ? endOfTime : clock.now())))
      .then(() => this.pump());
  }

  #room(): number {
    return this.#pace.admits && this.#parts.sendingBudget.allows(this.#sending) ? this.#freePlaces : 0;
  }

  get #freePlaces(): number {
    return this.#places.concurrency - this.#occupied;
  }

  /** How many places are taken, also by attempts of earlier owners beyond the limit. */
  get #occupied(): number {
    return this.#places.activeCount + this.#places.pendingCount;
  }

  /** The free places for first attempts; 0 while the destination is held or an older event waits. */
  #roomForFirst(): number {
    if (this.#retryPause.paused || !this.#ownership.alive || !this.#window.clear) return 0;
    const standing = this.#standing();
    return standing?.heldBy === null ? this.#room() : 0;
  }

  #startAttempt(work: Work, held?: Hold): void {
    this.#pace.take();
    this.#start(work, () => this.#breaker.fire(() => this.#places(() => this.#attempt(work, false, held))));
  }

  #start(work: Work, task: () => Promise<Ended>): void {
    void this.#retryPause.run(() => this.#track(work, task)).then(() => this.pump());
  }

  async #attempt(work: Work, probe: boolean, held?: Hold): Promise<Ended> {
    const { aggregates, workers, workerId } = this.#parts;
    const timeoutMs = aggregates.peek(destinations, this.#destinationId)?.state?.timeoutMs;
    const release = workers.hold(workerId, work.eventId, timeoutMs);
    try {
      return await this.#carryOut(work, probe, held);
    } finally {
      release();
    }
  }

  async #carryOut(work: Work, probe: boolean, held?: Hold): Promise<Ended> {
    const { aggregates, attempts, sendingBudget } = this.#parts;
    const claimed = await this.#claim(work, probe, held);
    if (typeof claimed === "string") {
      this.#pace.giveBack();
      return claimed;
    }
    this.#window.written(claimed.position);
    const { payload } = claimed.state;
    sendingBudget.occupy(payload);
    this.#sending += payload.length;
    let ended: AttemptEnd | Withdrawn;
    try {
      ended = await attempts.carryOut(claimed, this.#pause, () => this.#roomForFirst() > 0);
    } finally {
      this.#sending -= payload.length;
      sendingBudget.giveBack(payload);
    }
    // Deleted meanwhile: the refill for cancellations passed over this event, which may wait for a retry now.
    if (aggregates.peek(destinations, this.#destinationId)?.state?.deleted) this.#window.lookAgain();
    if (typeof ended === "string") {
      this.#wayOut.pass();
      return ended;
    }
    this.#wayOut.fail(ended.problem);
    if (ended.position !== undefined) this.#window.written(ended.position);
    return "not ours";
  }

  #claim(work: Work, probe: boolean, held?: Hold): Promise<Claimed | Miss> {
    const { claims, woken, atHand } = this.#parts;
    const mayClaim = (destination: Destination) =>
      this.#ownership.mayClaim && this.#pause.until === null && this.#wayOut.open
      && this.#occupied <= destination.serverRateLimit;
    const claim = () => claims.claim(work, probe, mayClaim, held);
    if (work.kind === "reserved") return claim();
    return work.kind === "first" ? atHand(claim) : woken(claim);
  }

  async #cancel(work: Unclaimed): Promise<Ended> {
    const cancelled = await this.#parts.claims.cancel(work);
    if (typeof cancelled === "string") return cancelled;
    this.#window.written(cancelled.position);
    return "delivered";
  }

  /** Tries the destination with the oldest held event, or half-opens its circuit; not during a pause. */
  async #probe(destination: Destination, circuit: Circuit, leaseMs: number): Promise<Ended> {
    if (this.#probes.stands(circuit, leaseMs)) return "nothing to do";
    const { session } = this.#ownership;
    const work = await this.#parts.woken(() => this.#window.oldest(circuit, destination));
    const miss = work && (await this.#parts.claims.missOf(work));
    // The search may have outlasted the membership: then the destination's new owner probes it.
    if (this.#ownership.session !== session || !session?.alive) return "not ours";
    if (!work) return (await this.#probes.idle(circuit)) ? "failed" : "nothing to do";
    if (miss) {
      this.#window.end(work, miss);
      return "not ours";
    }
    const pausedUntil = this.#pause.until;
    if (pausedUntil === null) return this.#probeWith(work, circuit, leaseMs);
    this.#heldInPause = pausedUntil;
    return "nothing to do";
  }

  async #probeWith(work: Unclaimed, circuit: Circuit, leaseMs: number): Promise<Ended> {
    const probe = await this.#probes.claim(circuit, work.eventId, leaseMs);
    if (!probe) return "nothing to do";
    const { state } = await this.#parts.aggregates.read(destinations, this.#destinationId);
    // Inactive, deleted or full since: the event waits, or is cancelled, like any other.
    const mayGo = state?.active && !state.deleted && this.#room() > 0;
    const { openUntil } = circuit;
    const held = openUntil === null ? undefined : { reason: "circuit-open", until: millis(openUntil) } as const;
    const attempt = () => this.#places(() => this.#attempt(work, true, held));
    if (mayGo) this.#pace.take();
    const ended = mayGo ? await this.#track(work, attempt) : "not ours";
    if (ended !== "delivered" && ended !== "failed" && ended !== "given up") {
      await this.#probes.release(circuit, probe);
      return "not ours";
    }
    return ended;
  }

  async #track(work: Work, task: () => Promise<Ended>): Promise<Ended> {
    const running = task();
    this.#underWay.add(running);
    let ended: Ended | undefined;
    try {
      return (ended = await running);
    } finally {
      this.#underWay.delete(running);
      this.#window.end(work, ended);
      this.#lastActive = this.#parts.clock.monotonic();
    }
  }
}
