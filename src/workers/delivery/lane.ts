import { circuits, destinations, tenants } from "../../application/aggregate-types.ts";
import type { Aggregates } from "../../application/aggregates.ts";
import type { ClaimOutcome, FirstClaim } from "../../application/delivery/first-attempts.ts";
import { isNewer } from "../../application/unreadable.ts";
import { mayProbe, newCircuit, type Circuit } from "../../domain/circuit/circuit.ts";
import type { Destination } from "../../domain/destination/state.ts";
import type { Webhook } from "../../domain/event/state.ts";
import type { Timestamp } from "../../domain/time.ts";
import { timestampNow } from "../../ports/clock/timestamp-now.ts";
import { logStart, type NewEntry } from "../../ports/event-store.ts";
import type { QueueSession, WorkItem } from "../../ports/work-queue.ts";
import type { Attempts } from "./attempts.ts";
import type { Claims } from "./claims.ts";
import { Guard, type GuardParts } from "./guard.ts";
import type { PayloadRoom } from "./payload-room.ts";
import { Probes, type ProbeParts } from "./probes.ts";
import { ReceiverPause } from "./receiver-pause.ts";
import { Tenure, type TenureParts } from "./tenure.ts";
import type { Turns } from "./turns.ts";
import type { Miss, Unclaimed, Work } from "./work.ts";
import { windowSize, WorkWindow, type WindowParts } from "./work-window.ts";

/** What all lanes of a worker share. */
export interface LaneParts extends GuardParts, ProbeParts, TenureParts, WindowParts {
  readonly aggregates: Aggregates;
  readonly claims: Claims;
  readonly attempts: Attempts;
  /** For the payloads of attempts under way. */
  readonly sendingRoom: PayloadRoom;
  /** For lanes that go on because of something that calls many of them at once. */
  readonly turns: Turns;
}

/** Later than any planned attempt: everything that waits, due or not. */
const endOfTime = Date.UTC(9999, 0);

/**
 * One destination's deliveries in this worker: never more at once than its limit, one probe at a time when its circuit
 * is not closed, none while it is inactive or its receiver asked for a pause, and for a deleted one cancellations only.
 */
export class Lane {
  readonly #destinationId: string;
  readonly #parts: LaneParts;
  readonly #tenure: Tenure;
  readonly #window: WorkWindow;
  readonly #probes: Probes;
  readonly #guard: Guard;
  /** For looks into the due index: while it is behind, what is at hand goes on. */
  readonly #refills: Guard;
  #pause: ReceiverPause;
  /** Under way: attempts, which count against the limit, and cancellations, which do not. */
  readonly #attempts = new Set<Promise<unknown>>();
  readonly #cancellations = new Set<Promise<unknown>>();
  /** Characters of the payloads that are being sent. */
  #sending = 0;
  /** The probe from the search for it to its end, while there is one and the circuit is not closed. */
  #probing: Promise<void> | undefined;
  /** The end of the pause in which an open circuit's destination was found to have events that are held. */
  #heldInPause: Timestamp | undefined;
  #loading = false;
  /** A fact called for work. It may be newer than what is known of the destination: the queue and the feed race. */
  #told = false;
  #lastActive: number;

  constructor(destinationId: string, parts: LaneParts) {
    this.#destinationId = destinationId;
    this.#parts = parts;
    this.#tenure = new Tenure(destinationId, parts);
    this.#window = new WorkWindow(destinationId, parts);
    this.#probes = new Probes(parts);
    this.#guard = new Guard(destinationId, parts, () => {
      this.#window.lookAgain();
      parts.turns.take(this);
    });
    this.#refills = new Guard(destinationId, parts, () => parts.turns.take(this));
    this.#pause = this.#newPause();
    this.#lastActive = parts.clock.monotonic();
  }

  /** Takes an item over, or leaves it to the due index when there is no room. */
  offer(item: WorkItem, session: QueueSession): void {
    this.#tenure.join(session);
    this.#window.offer(item);
    if (item.kind === "wake" && item.position !== logStart) this.#told = true;
    this.#lastActive = this.#parts.clock.monotonic();
  }

  /**
   * Claims the first attempt of an event that is about to be accepted, where it may begin at once and nothing older
   * waits.
   */
  claimFirst(event: Webhook, accepted: NewEntry): FirstClaim | null {
    const start = this.#roomForFirst() > 0 && this.#parts.claims.first(event, accepted);
    if (!start) return null;
    const { promise: outcome, resolve: settle } = Promise.withResolvers<ClaimOutcome>();
    const work = { kind: "reserved", eventId: event.id, start, outcome } as const;
    void this.#start(work, this.#attempts, (onClaimed) => this.#attempt(work, false, onClaimed));
    return { entries: start.entries, settle };
  }

  /**
   * Starts what may be started: nothing unless the destination, its circuit and its tenant can be read. Call after
   * offering. Resolves once that is claimed, and where nothing is at hand yet, once it was looked for; what is sent
   * then goes on.
   */
  pump(): Promise<unknown> | undefined {
    if (this.#guard.paused || !this.#tenure.alive) return undefined;
    const { aggregates } = this.#parts;
    const destination = aggregates.peek(destinations, this.#destinationId);
    const circuit = aggregates.peek(circuits, this.#destinationId);
    const tenant = destination?.state && aggregates.peek(tenants, destination.state.tenantId);
    if (!this.#tenure.known || !destination || !circuit || (destination.state && !tenant)) {
      return this.#load();
    }
    this.#pause.follow(circuit.state?.pausedUntil);
    if (destination.state?.deleted) {
      // Nothing is sent: what is still under way at the receiver holds up no cancellation.
      const room = () => windowSize - this.#cancellations.size;
      return this.#flow(
        destination.state, room, (work) => this.#start(work, this.#cancellations, () => this.#cancel(work)));
    } else if (this.#told && this.#isHeldUp(destination.state, circuit.state)) {
      return this.#load();
    } else if (!destination.state?.active) {
      this.#window.hold();
      return undefined;
    }
    return this.#obey(circuit.state ?? newCircuit(this.#destinationId, destination.state.tenantId), destination.state);
  }

  /** The destination stays this worker's, under a new membership. */
  carryOn(session: QueueSession): void {
    if (this.#tenure.session === undefined) return;
    this.#tenure.join(session);
    this.#parts.turns.take(this);
  }

  /** Nothing more is started until the destination comes back to this worker; what is under way goes on. */
  leave(): void {
    this.#tenure.leave();
    // Attempts under way still record the pause in the log, where the destination's next owner reads it.
    this.#pause.unwatch();
    this.#pause = this.#newPause();
    this.#window.hold();
  }

  /** Whether nothing is sent or at hand here, since `since` (monotonic ms): what else waits, the sweeper finds. */
  idleSince(since: number): boolean {
    return this.#attempts.size === 0 && this.#window.idle && this.#lastActive <= since;
  }

  /** Resolves when nothing that was under way at the call still is. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#attempts, ...this.#cancellations, this.#probing]);
  }

  #load(): Promise<unknown> | undefined {
    if (this.#loading) return undefined;
    this.#loading = true;
    return this.#guard.run(async () => {
      const { aggregates, clock } = this.#parts;
      const foreignMs = this.#tenure.known ? 0 : await this.#tenure.learn();
      // Once the last of them is over, nothing else would say that there is room.
      if (foreignMs > 0) clock.schedule(foreignMs, () => void this.pump());
      if (this.#told) await this.#lookAnew();
      else {
        const { state } = await aggregates.read(destinations, this.#destinationId);
        await aggregates.read(circuits, this.#destinationId);
        if (state) await aggregates.read(tenants, state.tenantId);
      }
    }).then(() => {
      this.#loading = false;
      return this.pump();
    });
  }

  /** What was told while this looks is looked for again, and so is what a log that is away does not say. */
  async #lookAnew(): Promise<void> {
    const { aggregates } = this.#parts;
    this.#told = false;
    try {
      await aggregates.current(destinations, this.#destinationId);
      await aggregates.current(circuits, this.#destinationId);
    } catch (error) {
      // The feed brings what follows a newer release's entry.
      this.#told = !isNewer(error);
      throw error;
    }
  }

  #newPause(): ReceiverPause {
    return new ReceiverPause(this.#parts.clock, () => this.#parts.turns.take(this));
  }

  #obey(circuit: Circuit, destination: Destination): Promise<unknown> | undefined {
    const isClosed = circuit.position === "Closed";
    // The probe's attempt may go on as an ordinary one. The probe of the next outage must not wait for it.
    if (isClosed) this.#probing = undefined;
    const pausedUntil = this.#pause.until;
    if (pausedUntil !== null && circuit.position !== "Open") {
      this.#window.holdForPause();
      return undefined;
    }
    if (isClosed) {
      const room = () => this.#room(destination.serverRateLimit);
      return this.#flow(destination, room, (work) =>
        this.#start(work, this.#attempts, (onClaimed) => this.#attempt(work, false, onClaimed)));
    }
    if (this.#probing) return undefined;
    this.#window.hold();
    if (pausedUntil !== null && pausedUntil === this.#heldInPause) return undefined;
    if (!mayProbe(circuit, timestampNow(this.#parts.clock))) return undefined;
    // What was under way when the circuit opened may outlast its timer.
    if (this.#room(destination.serverRateLimit) <= 0) return undefined;
    const { promise: claimed, resolve } = Promise.withResolvers<void>();
    const probing = this.#guard.run(() => this.#probe(circuit, resolve)).then((moved) => {
      resolve();
      if (this.#probing === probing) this.#probing = undefined;
      if (moved || this.#window.called) void this.pump();
    });
    this.#probing = probing;
    return claimed;
  }

  #flow(
    { tenantId, deleted }: Destination, room: () => number, start: (work: Unclaimed) => Promise<unknown>,
  ): Promise<unknown> | undefined {
    let claimed: Promise<unknown> | undefined;
    while (room() > 0) {
      const work = this.#window.take();
      if (!work) break;
      claimed = start(work);
    }
    if (!this.#window.low || this.#refills.paused) return claimed;
    const dueBy = deleted ? endOfTime : this.#parts.clock.now();
    const refilled = this.#refills.run(() => this.#window.refill(tenantId, dueBy)).then(() => this.pump());
    // What is at hand waits for no look: the due index may be behind.
    return claimed ?? (this.#window.idle ? refilled : undefined);
  }

  /** Whether no attempt except a probe may begin, by the state that is known here. */
  #isHeldUp(destination: Destination | undefined, circuit: Circuit | undefined): boolean {
    const isClosed = circuit === undefined || circuit.position === "Closed";
    return !destination?.active || !isClosed || this.#pause.until !== null;
  }

  /** How many more attempts the limit, and the memory for their payloads, allow now. */
  #room(limit: number): number {
    if (!this.#parts.sendingRoom.allows(this.#sending)) return 0;
    return limit - this.#attempts.size - this.#tenure.foreign;
  }

  /** How many it allows where nothing holds the destination up and nothing older waits; else 0. */
  #roomForFirst(): number {
    if (this.#guard.paused || !this.#tenure.mayClaim || !this.#window.clear) return 0;
    const destination = this.#parts.aggregates.peek(destinations, this.#destinationId)?.state;
    const circuit = this.#parts.aggregates.peek(circuits, this.#destinationId);
    if (!destination || destination.deleted || !circuit) return 0;
    this.#pause.follow(circuit.state?.pausedUntil);
    if (this.#isHeldUp(destination, circuit.state)) return 0;
    return this.#room(destination.serverRateLimit);
  }

  /** Resolves once the task has called back, or ended. */
  #start(
    work: Work, underWay: Set<Promise<unknown>>, task: (claimed: () => void) => Promise<Miss | undefined>,
  ): Promise<void> {
    const { promise: claimed, resolve } = Promise.withResolvers<void>();
    void this.#track(work, underWay, () => this.#guard.run(() => task(resolve))).then(() => {
      resolve();
      void this.pump();
    });
    return claimed;
  }

  /** Calls `onClaimed` before anything is sent. */
  async #attempt(work: Work, probe: boolean, onClaimed: () => void): Promise<Miss | undefined> {
    const { aggregates, claims, attempts, sendingRoom } = this.#parts;
    const claimed = await claims.claim(work, probe, () => this.#tenure.mayClaim && this.#pause.until === null);
    onClaimed();
    if (typeof claimed === "string") return claimed;
    this.#window.written(claimed.position);
    const { payload } = claimed.state;
    sendingRoom.occupy(payload);
    this.#sending += payload.length;
    try {
      await attempts.carryOut(claimed, this.#pause, () => this.#roomForFirst() > 0);
    } finally {
      this.#sending -= payload.length;
      sendingRoom.giveBack(payload);
    }
    // Deleted meanwhile: the look for what is to be cancelled passed over this event, which may wait again.
    if (aggregates.peek(destinations, this.#destinationId)?.state?.deleted) this.#window.lookAgain();
    return undefined;
  }

  async #cancel(work: Unclaimed): Promise<Miss | undefined> {
    const cancelled = await this.#parts.claims.cancel(work);
    if (typeof cancelled === "string") return cancelled;
    this.#window.written(cancelled.position);
    return undefined;
  }

  /**
   * Tries the destination with one event, the oldest held, but not during a pause; with nothing held it becomes Active,
   * still half-open. Resolves false when there was nothing to be done now.
   */
  async #probe(circuit: Circuit, onClaimed: () => void): Promise<boolean> {
    if (this.#probes.stands(circuit)) return false;
    const { session } = this.#tenure;
    const work = await this.#window.oldest(circuit);
    const miss = work && (await this.#parts.claims.missOf(work));
    // The search may have outlasted the membership: then the destination's new owner probes it.
    if (this.#tenure.session !== session || !session?.alive) return true;
    if (!work) return this.#probes.idle(circuit);
    if (miss) {
      this.#window.end(work.eventId, miss);
      return true;
    }
    const pausedUntil = this.#pause.until;
    if (pausedUntil === null) return this.#probeWith(work, circuit, onClaimed);
    this.#heldInPause = pausedUntil;
    return false;
  }

  async #probeWith(work: Unclaimed, circuit: Circuit, onClaimed: () => void): Promise<boolean> {
    const probe = await this.#probes.claim(circuit, work.eventId);
    if (!probe) return false;
    const { state } = await this.#parts.aggregates.read(destinations, this.#destinationId);
    // Inactive or deleted since: the event waits, or is cancelled, as any other.
    const mayGo = state?.active && !state.deleted;
    const miss = mayGo
      ? await this.#track(work, this.#attempts, () => this.#attempt(work, true, onClaimed))
      : "nothing to do";
    if (miss) await this.#probes.release(circuit, probe);
    return true;
  }

  async #track(
    work: Work, underWay: Set<Promise<unknown>>, task: () => Promise<Miss | undefined>,
  ): Promise<Miss | undefined> {
    const running = task();
    underWay.add(running);
    let miss: Miss | undefined;
    try {
      return (miss = await running);
    } finally {
      underWay.delete(running);
      this.#window.end(work.eventId, miss);
      this.#lastActive = this.#parts.clock.monotonic();
    }
  }
}
