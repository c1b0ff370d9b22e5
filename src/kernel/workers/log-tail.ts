import { categoryOf } from "../domain/streams.ts";
import { late, within } from "../ports/clock.ts";
import { logStart, type EventLog, type LogEntry, type Position, type Subscription } from "../ports/event-store.ts";
import type { Instruments } from "../ports/telemetry.ts";
import { Loop } from "./loop.ts";

const beatMs = 200;
/** Changes by other processes take effect here within this time; a process that cannot prove that is not fresh. */
const freshForMs = 1_000;
/** How long a request waits for a proof, ms: as long as for an append. */
const renewedWithinMs = 10_000;
/** A process follows the log until the last proof is older than this, ms: busy engines pause for seconds. */
const followedForMs = 8_000;
/** How long the subscription has to reach the end that was just looked up: on a busy log it soon does. */
const patienceMs = 50;
/** The log counts as unreachable after so long without an answer about its end, ms. */
const silenceMs = 2_000;
/** Entries read where the subscription is behind. A process that lags by more is not fresh. */
const gapEntries = 1_000;

interface LogTailParts extends Instruments {
  readonly log: EventLog;
  readonly categories: readonly string[];
  readonly handle: (entries: readonly LogEntry[]) => void;
}

/** How long the log has been reachable for a process. */
export interface Reach {
  /** Since when it has been reachable without an interruption, by the monotonic clock; Infinity while it is not. */
  readonly reachableSince: number;
}

/** Follows the log for a process's caches, and reads its end: an idle log looks like an unreachable one. */
export class LogTail implements Reach {
  readonly #parts: LogTailParts;
  readonly #loop: Loop;
  #subscription: Subscription | undefined;
  #covered = logStart;
  #provenAt = -Infinity;
  #answeredAt = -Infinity;
  #reachableSince = Infinity;
  readonly #waiting = new Set<{ readonly since: number; readonly proven: () => void }>();
  #failing = false;

  constructor(parts: LogTailParts) {
    this.#parts = parts;
    this.#loop = new Loop(parts.clock, async () => {
      await this.#prove().catch((error: unknown) => this.#fail(error));
      return beatMs;
    });
  }

  /** Follows from the log's end on: caches filled later read the log then. Throws LogUnavailable. */
  async start(): Promise<void> {
    const { log, clock, categories, handle } = this.#parts;
    const from = clock.monotonic();
    this.#covered = await this.#head();
    this.#provenAt = from;
    this.#subscription = log.subscribe({ after: this.#covered, categories, prompt: true }, (entries, upTo) => {
      handle(entries);
      this.#cover(upTo);
    });
    this.#loop.start(beatMs);
  }

  /** Resolves when `handle` is no longer called; the caches still count as fresh for a second. */
  async stop(): Promise<void> {
    await Promise.all([this.#subscription?.stop(), this.#loop.stop()]);
  }

  /** Whether all entries were seen that were in the log a second ago. */
  get fresh(): boolean {
    return this.#parts.clock.monotonic() - this.#provenAt <= freshForMs;
  }

  /** Whether the log is followed, be it seconds behind: requests then wait until this is {@link fresh}. */
  get isFollowed(): boolean {
    return this.#parts.clock.monotonic() - this.#provenAt <= followedForMs;
  }

  get reachableSince(): number {
    return this.#parts.clock.monotonic() - this.#answeredAt > silenceMs ? Infinity : this.#reachableSince;
  }

  /** Resolves true once all entries were seen that are in the log now, false when that takes over ten seconds. */
  async renewed(): Promise<boolean> {
    const { clock } = this.#parts;
    const { promise, resolve: proven } = Promise.withResolvers<void>();
    const waiter = { since: clock.monotonic(), proven };
    this.#waiting.add(waiter);
    const outcome = await within(clock, renewedWithinMs, promise);
    this.#waiting.delete(waiter);
    return outcome !== late;
  }

  async #prove(): Promise<void> {
    const { log, clock, categories, handle } = this.#parts;
    const from = clock.monotonic();
    const head = await this.#head();
    if (this.#covered < head) await this.#loop.rest(patienceMs);
    if (this.#covered < head) {
      // Entries of other categories move the head but come to no subscription: the rest of the log is read.
      const { entries, upTo } = await log.readLog(this.#covered, gapEntries);
      handle(entries.filter(({ stream }) => categories.includes(categoryOf(stream))));
      this.#cover(upTo);
    }
    if (this.#covered < head) return;
    this.#provenAt = from;
    for (const { since, proven } of this.#waiting) if (since <= from) proven();
    if (this.#failing) this.#parts.logger.info({}, "the log is followed again");
    this.#failing = false;
  }

  async #head(): Promise<Position> {
    const { log, clock } = this.#parts;
    const head = await log.head();
    const now = clock.monotonic();
    if (now - this.#answeredAt > silenceMs) this.#reachableSince = now;
    this.#answeredAt = now;
    return head;
  }

  #cover(position: Position): void {
    if (position > this.#covered) this.#covered = position;
  }

  #fail(error: unknown): void {
    this.#parts.metrics.anomaly("following the log");
    if (!this.#failing) this.#parts.logger.warn({ err: error }, "the log cannot be followed");
    this.#failing = true;
  }
}
