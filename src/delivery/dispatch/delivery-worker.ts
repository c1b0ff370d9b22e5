import pLimit from "p-limit";
import type { Webhook } from "../../features/events/facts.ts";
import type { FirstAttempts, FirstClaim, FirstClaimer } from "../../features/ingest/first-attempts.ts";
import { type Timer, within } from "../../kernel/ports/clock.ts";
import type { NewEntry } from "../../kernel/ports/event-store.ts";
import type { QueueSession, WorkConsumer, WorkItem, WorkQueue } from "../../kernel/ports/work-queue.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import { Dispatcher, type DispatcherParts } from "./dispatcher.ts";
import type { SessionStart } from "./ownership.ts";
import { PaceTimer } from "./pace.ts";
import { PayloadBudget } from "./payload-budget.ts";

/** Reads and claims at once: more would not finish sooner, and would delay the answers to others. */
const askedAtOnce = 64;
const idleMs = 30_000;
const dropEveryMs = 5_000;
const atHandCharacters = 64 * 2 ** 20;
/** Characters of payloads being sent. They take four times as much memory: text, bytes, encrypted. */
const usualSendingCharacters = 128 * 2 ** 20;

type OfWorker = "logThrottle" | "payloadBudget" | "sendingBudget" | "paceTimer" | "startOf" | "woken" | "atHand";

/** Hands work items to dispatchers, one for each destination: made when first needed, dropped when idle. */
export class DeliveryWorker implements WorkConsumer, FirstClaimer {
  readonly #queue: WorkQueue;
  readonly #firstAttempts: FirstAttempts;
  readonly #parts: DispatcherParts;
  readonly #dispatchers = new Map<string, Dispatcher>();
  readonly #starts = new WeakMap<QueueSession, Promise<SessionStart>>();
  #consumption: { stop(): Promise<void> } | undefined;
  #idleTimer: Timer | undefined;

  constructor(
    queue: WorkQueue,
    firstAttempts: FirstAttempts,
    parts: Omit<DispatcherParts, OfWorker>,
    { sendingCharacters = usualSendingCharacters } = {},
  ) {
    this.#queue = queue;
    this.#firstAttempts = firstAttempts;
    const startOf = (session: QueueSession) => this.#startOf(session);
    this.#parts = {
      ...parts, logThrottle: new LogThrottle(parts.clock), startOf, paceTimer: new PaceTimer(parts.clock),
      woken: pLimit(askedAtOnce), atHand: pLimit(askedAtOnce),
      payloadBudget: new PayloadBudget(atHandCharacters), sendingBudget: new PayloadBudget(sendingCharacters),
    };
  }

  /** Takes part in the queue, and lets ingest claim first attempts here. Rejects as the queue's `consume` does. */
  async start(): Promise<void> {
    this.#consumption = await this.#queue.consume(this);
    this.#firstAttempts.claimer = this;
    this.#dropIdleDispatchers();
  }

  /** Starts nothing more; resolves when the work under way is recorded, or after `patienceMs`. */
  async stop(patienceMs: number): Promise<void> {
    this.#idleTimer?.cancel();
    this.#firstAttempts.claimer = null;
    const dispatchers = [...this.#dispatchers.values()];
    await this.#consumption?.stop();
    await within(this.#parts.clock, patienceMs, Promise.all(dispatchers.map((dispatcher) => dispatcher.settled())));
    for (const dispatcher of this.#dispatchers.values()) dispatcher.drop();
  }

  take(items: readonly WorkItem[], session: QueueSession): void {
    const touched = new Set<Dispatcher>();
    for (const item of items) {
      const dispatcher = this.#dispatcherOf(item.destinationId);
      dispatcher.offer(item, session);
      touched.add(dispatcher);
    }
    for (const dispatcher of touched) dispatcher.pump();
  }

  claimFirst(event: Webhook, accepted: NewEntry): FirstClaim | null {
    return this.#dispatchers.get(event.destinationId)?.claimFirst(event, accepted) ?? null;
  }

  reassign(isLost: (destinationId: string) => boolean, session: QueueSession): void {
    for (const [id, dispatcher] of this.#dispatchers) {
      if (isLost(id)) dispatcher.leave();
      else dispatcher.carryOn(session);
    }
  }

  #dispatcherOf(destinationId: string): Dispatcher {
    let dispatcher = this.#dispatchers.get(destinationId);
    if (!dispatcher) {
      dispatcher = new Dispatcher(destinationId, this.#parts);
      this.#dispatchers.set(destinationId, dispatcher);
    }
    return dispatcher;
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

  #dropIdleDispatchers(): void {
    const since = this.#parts.clock.monotonic() - idleMs;
    for (const [id, dispatcher] of this.#dispatchers) {
      if (!dispatcher.idleSince(since)) continue;
      dispatcher.drop();
      this.#dispatchers.delete(id);
    }
    this.#idleTimer = this.#parts.clock.schedule(dropEveryMs, () => this.#dropIdleDispatchers());
  }
}
