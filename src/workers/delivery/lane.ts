import { circuits, destinations } from "../../application/aggregate-types.ts";
import type { Aggregates } from "../../application/aggregates.ts";
import type { Condensed } from "../../application/condensed.ts";
import type { DueIndex } from "../../application/delivery/due-index.ts";
import type { ClaimOutcome, FirstClaim } from "../../application/delivery/first-attempts.ts";
import { mayProbe, newCircuit, type Circuit } from "../../domain/circuit/circuit.ts";
import type { Destination } from "../../domain/destination/state.ts";
import type { Webhook } from "../../domain/event/state.ts";
import { millis, timestamp } from "../../domain/time.ts";
import type { EventLog, NewEntry, Position } from "../../ports/event-store.ts";
import type { Logger } from "../../ports/telemetry.ts";
import type { QueueSession, WorkItem } from "../../ports/work-queue.ts";
import type { Attempts } from "./attempts.ts";
import { DuePages } from "./due-pages.ts";
import { Probes, type ProbeParts } from "./probes.ts";
import type { Result, Unclaimed, Work } from "./work.ts";

/** What all lanes of a worker share. */
export interface LaneParts extends ProbeParts {
  readonly log: EventLog;
  readonly aggregates: Aggregates;
  readonly dueIndex: DueIndex;
  readonly attempts: Attempts;
  readonly logger: Logger;
  readonly condensed: Condensed;
  /** Where the log ended when a membership began: what earlier owners of its destinations claimed stands before. */
  readonly startOf: (session: QueueSession) => Promise<Position>;
}

/** A lane holds at most this many waiting events, however many there are. */
const windowSize = 64;
const lowWater = 32;
const pauseAfterTroubleMs = 1_000;
const catchUpMs = 5_000;
/** Later than any planned attempt: everything that waits, due or not. */
const endOfTime = Date.UTC(9999, 0);

/**
 * One destination's deliveries in this worker: never more at once than its limit, one probe at a time
 * when its circuit is not closed, none while it is inactive, and for a deleted one cancellations only.
 * It keeps a small window of work; what does not fit stays in the due index, from which it refills.
 */
export class Lane {
  readonly destinationId: string;
  readonly #parts: LaneParts;
  /** None while the destination is another worker's. */
  #session: QueueSession | undefined;
  #window: Unclaimed[] = [];
  /** The window was let go: what the due index has goes first. */
  #held = false;
  /** Ids of events in the window or under way: the due index may still name them. */
  readonly #present = new Set<string>();
  /** Events that the due index may name and nobody can read: those behind them must not wait. */
  readonly #unreadable = new Set<string>();
  readonly #attempts = new Set<Promise<unknown>>();
  readonly #cancellations = new Set<Promise<unknown>>();
  readonly #pages: DuePages;
  readonly #probes: Probes;
  /** The due index may hold more; it must have come this far before it is asked. */
  #refillFrom: Position | undefined;
  #refilling = false;
  /** The probe from its claim to its end, while there is one and the circuit is not closed. */
  #probing: Promise<void> | undefined;
  #paused = false;
  #loaded = false;
  #loading = false;
  /** Attempts of an earlier owner that may still be under way: the monotonic moment each is over. */
  #foreign: number[] = [];
  #lastActive: number;

  constructor(destinationId: string, parts: LaneParts) {
    this.destinationId = destinationId;
    this.#parts = parts;
    this.#lastActive = parts.clock.monotonic();
    this.#pages = new DuePages(destinationId, parts);
    this.#probes = new Probes(parts);
  }

  /** Takes an item over, or leaves it to the due index when there is no room. */
  offer(item: WorkItem, session: QueueSession): void {
    this.#join(session);
    this.#lastActive = this.#parts.clock.monotonic();
    if (item.kind === "wake") this.#wantRefill(item.position);
    else if (this.#knows(item.eventId)) return;
    else if (this.#window.length >= windowSize) this.#wantRefill(item.position);
    else this.#push({ kind: "first", eventId: item.eventId, item });
  }

  /**
   * Claims the first attempt of an event that is about to be accepted, where it may begin at once and nothing older
   * waits.
   */
  claimFirst(event: Webhook, accepted: NewEntry): FirstClaim | null {
    const limit = this.#freeLimit();
    const start = limit !== null && this.#room(limit) > 0 && this.#parts.attempts.first(event, accepted);
    if (!start) return null;
    const { promise: outcome, resolve: settle } = Promise.withResolvers<ClaimOutcome>();
    this.#start({ kind: "reserved", eventId: event.id, start, outcome });
    return { entries: start.entries, settle };
  }

  /** Starts what may be started. Call after offering. */
  pump(): void {
    if (this.#paused || !this.#loaded || !this.#session?.alive) return;
    const destination = this.#parts.aggregates.peek(destinations, this.destinationId);
    const circuit = this.#parts.aggregates.peek(circuits, this.destinationId);
    if (!destination || !circuit) {
      this.#loaded = false;
      this.#startLoading();
    } else if (destination.state?.deleted) {
      // Nothing is sent: what is still under way at the receiver holds up no cancellation.
      this.#flow(() => windowSize - this.#cancellations.size, (work) => this.#cancel(work));
    } else if (!destination.state?.active) {
      this.#hold();
    } else {
      this.#obey(destination.state, circuit.state ?? newCircuit(this.destinationId, destination.state.tenantId));
    }
  }

  /** Whether nothing is under way or waiting here, since `since` (monotonic ms). */
  idleSince(since: number): boolean {
    if (this.#attempts.size > 0 || this.#cancellations.size > 0 || this.#probing !== undefined) return false;
    if (this.#window.length > 0) return false;
    return !this.#refilling && !this.#paused && this.#refillFrom === undefined && this.#lastActive <= since;
  }

  /** The destination stays this worker's, under a new membership. */
  carryOn(session: QueueSession): void {
    if (this.#session === undefined) return;
    this.#join(session);
    this.pump();
  }

  /** The destination is another worker's: nothing more is started until it comes back; what is under way goes on. */
  leave(): void {
    this.#session = undefined;
    this.#loaded = false;
    this.#hold();
  }

  /** Lets go of what an idle lane holds. */
  close(): void {
    this.#session = undefined;
  }

  /** Resolves when nothing that was under way at the call still is. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#attempts, ...this.#cancellations, this.#probing]);
  }

  #obey(destination: Destination, circuit: Circuit): void {
    if (circuit.position === "Closed") {
      // Its attempt may go on: it is one like any other, and must not keep the next opening waiting for its probe.
      this.#probing = undefined;
      this.#flow(() => this.#room(destination.serverRateLimit), (work) => this.#start(work));
      return;
    }
    if (this.#probing) return;
    this.#hold();
    if (!mayProbe(circuit, timestamp(this.#parts.clock.now()))) return;
    // What was under way when the circuit opened may outlast its timer.
    if (this.#room(destination.serverRateLimit) <= 0) return;
    const probing = this.#guarded(() => this.#probe(circuit)).then((moved) => {
      if (this.#probing === probing) this.#probing = undefined;
      if (moved || this.#window.length > 0 || this.#refillFrom !== undefined) this.pump();
    });
    this.#probing = probing;
  }

  #flow(room: () => number, start: (work: Unclaimed) => void): void {
    if (this.#held) this.#wantRefill("");
    this.#held = false;
    while (room() > 0) {
      const work = this.#window.shift();
      if (!work) break;
      start(work);
    }
    if (this.#refillFrom !== undefined && this.#window.length < lowWater) void this.#refill();
  }

  /** How many attempts at once the destination allows while nothing holds it up and nothing waits here; else null. */
  #freeLimit(): number | null {
    if (this.#paused || !this.#loaded || !this.#session?.alive) return null;
    if (this.#held || this.#window.length > 0 || this.#refillFrom !== undefined || this.#refilling) return null;
    const destination = this.#parts.aggregates.peek(destinations, this.destinationId)?.state;
    const circuit = this.#parts.aggregates.peek(circuits, this.destinationId);
    if (!destination?.active || destination.deleted || !circuit) return null;
    return (circuit.state?.position ?? "Closed") === "Closed" ? destination.serverRateLimit : null;
  }

  /** How many more attempts the limit allows now. */
  #room(limit: number): number {
    const now = this.#parts.clock.monotonic();
    if (this.#foreign.length > 0) this.#foreign = this.#foreign.filter((end) => end > now);
    return limit - this.#attempts.size - this.#foreign.length;
  }

  #start(work: Work): void {
    const run = () => this.#guarded(() => this.#parts.attempts.run(work, false));
    void this.#track(work, this.#attempts, run).then(() => this.pump());
  }

  #cancel(work: Unclaimed): void {
    const cancel = () => this.#guarded(() => this.#parts.attempts.cancel(work));
    void this.#track(work, this.#cancellations, cancel).then(() => this.pump());
  }

  async #track(
    work: Work, underWay: Set<Promise<unknown>>, task: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    // What is claimed with its acceptance may be another's that was accepted first: that one's item comes, too.
    const isOwn = work.kind !== "reserved";
    if (isOwn) this.#present.add(work.eventId);
    const running = task();
    underWay.add(running);
    try {
      const result = await running;
      if (result === "unreadable") this.#unreadable.add(work.eventId);
      return result;
    } finally {
      underWay.delete(running);
      if (isOwn) this.#present.delete(work.eventId);
      this.#lastActive = this.#parts.clock.monotonic();
    }
  }

  #knows(eventId: string): boolean {
    return this.#present.has(eventId) || this.#unreadable.has(eventId);
  }

  /** Lets go of the window: the due index has it all. */
  #hold(): void {
    for (const work of this.#window) this.#present.delete(work.eventId);
    this.#window = [];
    this.#held = true;
    this.#refillFrom = undefined;
    this.#pages.startOver();
  }

  /**
   * Tries the destination with one event, the oldest held; with nothing held it becomes Active, still
   * half-open. Resolves false when there was nothing to be done now.
   */
  async #probe(circuit: Circuit): Promise<boolean> {
    if (this.#probes.stands(circuit)) return false;
    const session = this.#session;
    const work = await this.#nextProbe(circuit);
    // The search may have outlasted the membership: whoever has the destination now probes it.
    if (this.#session !== session || !session?.alive) return true;
    return work ? this.#probeWith(work, circuit) : this.#probes.idle(circuit);
  }

  async #probeWith(work: Unclaimed, circuit: Circuit): Promise<boolean> {
    if (!(await this.#probes.claim(circuit, work.eventId))) return false;
    const run = () => this.#parts.attempts.run(work, true);
    const { state } = await this.#parts.aggregates.read(destinations, this.destinationId);
    // Deleted since: the event is cancelled like any other.
    const result = state?.deleted ? "nothing to do" : await this.#track(work, this.#attempts, run);
    if (result !== "done") await this.#probes.release(circuit, work.eventId);
    return true;
  }

  async #nextProbe(circuit: Circuit): Promise<Unclaimed | undefined> {
    const { log, dueIndex, clock } = this.#parts;
    if (!(await dueIndex.covers(await log.head(), catchUpMs))) throw new Error("the due index is behind");
    const oldest = await dueIndex.oldestDue(circuit, clock.now(), this.#unreadable.size + 1);
    const [probe] = oldest.filter(({ eventId }) => !this.#unreadable.has(eventId));
    return probe && { kind: "due", eventId: probe.eventId };
  }

  #wantRefill(position: Position): void {
    if (this.#refillFrom === undefined || this.#refillFrom < position) this.#refillFrom = position;
  }

  async #refill(): Promise<void> {
    if (this.#refilling) return;
    this.#refilling = true;
    const from = this.#refillFrom ?? "";
    this.#refillFrom = undefined;
    await this.#guarded(async () => {
      const { aggregates, attempts, clock } = this.#parts;
      const { state } = await aggregates.read(destinations, this.destinationId);
      // There are no events of a destination that never was.
      if (!state) return;
      const position = attempts.lastPosition > from ? attempts.lastPosition : from;
      const { found, more } = await this.#pages.next({
        tenantId: state.tenantId,
        position,
        dueBy: state.deleted ? endOfTime : clock.now(),
        room: windowSize - this.#window.length,
        known: { count: this.#present.size + this.#unreadable.size, has: (eventId) => this.#knows(eventId) },
      });
      const fresh = found.filter((eventId) => !this.#knows(eventId));
      const room = windowSize - this.#window.length;
      for (const eventId of fresh.slice(0, room)) this.#push({ kind: "due", eventId });
      // Items came in meanwhile: what has no room now must be found once more.
      if (fresh.length > room) this.#pages.startOver();
      if (more || fresh.length > room) this.#wantRefill(position);
    }, from);
    this.#refilling = false;
    this.pump();
  }

  #push(work: Unclaimed): void {
    this.#window.push(work);
    this.#present.add(work.eventId);
    this.#lastActive = this.#parts.clock.monotonic();
  }

  #join(session: QueueSession): void {
    this.#session = session;
    if (!this.#loaded && !this.#paused) this.#startLoading();
  }

  #startLoading(): void {
    if (this.#loading) return;
    this.#loading = true;
    void this.#load().finally(() => {
      this.#loading = false;
      if (this.#loaded) this.pump();
      // Left and taken again meanwhile: what another owner claimed in between was not looked for.
      else if (this.#session && !this.#paused) this.#startLoading();
    });
  }

  async #load(): Promise<void> {
    const { aggregates, dueIndex, clock, workerId, startOf } = this.#parts;
    const session = this.#session;
    await this.#guarded(async () => {
      if (!session) return;
      if (!(await dueIndex.covers(await startOf(session), catchUpMs))) throw new Error("the due index is behind");
      await aggregates.read(destinations, this.destinationId);
      await aggregates.read(circuits, this.destinationId);
      const now = clock.monotonic();
      const leases = await dueIndex.leases(this.destinationId);
      this.#foreign = leases
        .filter((lease) => lease.worker !== workerId)
        .map((lease) => now + millis(lease.leaseUntil) - millis(lease.startedAt));
      // With the last of them over nothing else would say that there is room now.
      if (this.#foreign.length > 0) clock.schedule(Math.max(...this.#foreign) - now, () => this.pump());
      this.#loaded = this.#session === session;
    }, "");
  }

  /** An engine that is away pauses every lane there is. */
  #tell(error: unknown): void {
    const { condensed, logger } = this.#parts;
    const { destinationId } = this;
    condensed.tell(
      String(error),
      () => logger.warn({ err: error, destinationId }, "delivery lane pauses"),
      (reason, times) => logger.warn({ reason, times }, "delivery lanes pause"),
    );
  }

  /** Trouble with an engine costs a pause and a look into the due index, never the lane. */
  async #guarded<T>(task: () => Promise<T>, retryFrom?: Position): Promise<T | undefined> {
    try {
      return await task();
    } catch (error) {
      this.#tell(error);
      this.#paused = true;
      this.#parts.clock.schedule(pauseAfterTroubleMs, () => {
        this.#paused = false;
        this.#wantRefill(retryFrom ?? "");
        if (this.#loaded) this.pump();
        else if (this.#session) this.#startLoading();
      });
      return undefined;
    }
  }
}
