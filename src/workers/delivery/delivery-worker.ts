import pLimit from "p-limit";
import type { FirstAttempts, FirstClaim, FirstClaimer } from "../../application/delivery/first-attempts.ts";
import { Repeats } from "../../application/repeats.ts";
import type { Webhook } from "../../domain/event/state.ts";
import type { Timer } from "../../ports/clock/clock.ts";
import { within } from "../../ports/clock/within.ts";
import type { NewEntry } from "../../ports/event-store.ts";
import type { QueueSession, WorkConsumer, WorkItem, WorkQueue } from "../../ports/work-queue.ts";
import { Lane, type LaneParts } from "./lane.ts";
import { PayloadRoom } from "./payload-room.ts";
import type { SessionStart } from "./tenure.ts";

/** Questions and claims at once: more would not be over sooner, and would keep others from being answered. */
const askedAtOnce = 64;
const idleMs = 30_000;
const dropEveryMs = 5_000;
/** Of payloads at hand. */
const atHandCharacters = 64 * 2 ** 20;
/** Of payloads under way; they take some four times as much memory: as text, as bytes, and encrypted. */
const usualSendingCharacters = 128 * 2 ** 20;

/** What the worker makes for its lanes. */
type OfWorker = "repeats" | "payloadRoom" | "sendingRoom" | "startOf" | "woken" | "atHand";

/** Hands work items to lanes, one for each destination: made when first needed, dropped when idle. */
export class DeliveryWorker implements WorkConsumer, FirstClaimer {
  readonly #queue: WorkQueue;
  readonly #firstAttempts: FirstAttempts;
  readonly #parts: LaneParts;
  readonly #lanes = new Map<string, Lane>();
  readonly #starts = new WeakMap<QueueSession, Promise<SessionStart>>();
  #consumption: { stop(): Promise<void> } | undefined;
  #idleTimer: Timer | undefined;

  constructor(
    queue: WorkQueue,
    firstAttempts: FirstAttempts,
    parts: Omit<LaneParts, OfWorker>,
    { sendingCharacters = usualSendingCharacters } = {},
  ) {
    this.#queue = queue;
    this.#firstAttempts = firstAttempts;
    const startOf = (session: QueueSession) => this.#startOf(session);
    this.#parts = {
      ...parts, repeats: new Repeats(parts.clock), startOf,
      woken: pLimit(askedAtOnce), atHand: pLimit(askedAtOnce),
      payloadRoom: new PayloadRoom(atHandCharacters), sendingRoom: new PayloadRoom(sendingCharacters),
    };
  }

  /** Takes part in the queue, and lets ingest claim first attempts here. Rejects as the queue's `consume` does. */
  async start(): Promise<void> {
    this.#consumption = await this.#queue.consume(this);
    this.#firstAttempts.claimer = this;
    this.#dropIdleLanes();
  }

  /** Starts nothing more and resolves when what is under way is recorded, or after `patienceMs`. */
  async stop(patienceMs: number): Promise<void> {
    this.#idleTimer?.cancel();
    this.#firstAttempts.claimer = null;
    const lanes = [...this.#lanes.values()];
    await this.#consumption?.stop();
    await within(this.#parts.clock, patienceMs, Promise.all(lanes.map((lane) => lane.settled())));
    for (const lane of this.#lanes.values()) lane.drop();
  }

  take(items: readonly WorkItem[], session: QueueSession): void {
    const touched = new Set<Lane>();
    for (const item of items) {
      const lane = this.#laneOf(item.destinationId);
      lane.offer(item, session);
      touched.add(lane);
    }
    for (const lane of touched) lane.pump();
  }

  claimFirst(event: Webhook, accepted: NewEntry): FirstClaim | null {
    return this.#lanes.get(event.destinationId)?.claimFirst(event, accepted) ?? null;
  }

  reassign(isLost: (destinationId: string) => boolean, session: QueueSession): void {
    for (const [id, lane] of this.#lanes) {
      if (isLost(id)) lane.leave();
      else lane.carryOn(session);
    }
  }

  #laneOf(destinationId: string): Lane {
    let lane = this.#lanes.get(destinationId);
    if (!lane) {
      lane = new Lane(destinationId, this.#parts);
      this.#lanes.set(destinationId, lane);
    }
    return lane;
  }

  #startOf(session: QueueSession): Promise<SessionStart> {
    const known = this.#starts.get(session);
    if (known) return known;
    const at = this.#parts.clock.monotonic();
    const start = this.#parts.log.head().then((position) => ({ position, at }));
    this.#starts.set(session, start);
    start.catch(() => this.#starts.delete(session));
    return start;
  }

  #dropIdleLanes(): void {
    const since = this.#parts.clock.monotonic() - idleMs;
    for (const [id, lane] of this.#lanes) {
      if (!lane.idleSince(since)) continue;
      lane.drop();
      this.#lanes.delete(id);
    }
    this.#idleTimer = this.#parts.clock.schedule(dropEveryMs, () => this.#dropIdleLanes());
  }
}
