import { isWanted, type Position, type Subscription, type Wanted } from "../../kernel/ports/event-store.ts";
import type { Batch } from "./feed.ts";
import type { Tuning } from "./tuning.ts";

interface TailParts {
  readonly tuning: Pick<Tuning, "bufferEntries" | "bufferBytes">;
  /** The newest position that this client knows of. */
  readonly newest: () => Position;
  /** Follows the whole log by a call of its own. */
  readonly follow: (after: Position, handle: (batch: Batch) => void) => Subscription;
}

/** The call, and its newest batches: they hold all entries after `from`. */
interface Run {
  readonly subscription: Subscription;
  readonly batches: Batch[];
  from: Position;
  entries: number;
  bytes: number;
}

/**
 * The end of the log, followed by one call for all subscriptions of a client while there are several: each record
 * comes, and is decoded, once. A subscription that is further behind follows the log by a call of its own.
 */
export class Tail {
  readonly #parts: TailParts;
  #members = 0;
  #run: Run | undefined;
  #change = Promise.withResolvers<void>();

  constructor(parts: TailParts) {
    this.#parts = parts;
  }

  /** One more subscription follows the log, after a position. */
  join(after: Position): void {
    this.#members += 1;
    if (this.#members !== 2) return;
    const newest = this.#parts.newest();
    const from = newest > after ? newest : after;
    const subscription = this.#parts.follow(from, (batch) => this.#keep(run, batch));
    const run: Run = { subscription, from, batches: [], entries: 0, bytes: 0 };
    this.#run = run;
  }

  /** One subscription less. Resolves when the call is over, if this ends it. */
  async leave(): Promise<void> {
    this.#members -= 1;
    if (this.#members >= 2) return;
    const run = this.#run;
    this.#run = undefined;
    this.wake();
    await run?.subscription.stop();
  }

  /** Whether all entries after a position come from here. */
  holds(after: Position): boolean {
    return this.#run !== undefined && after >= this.#run.from;
  }

  /** The entries after a position that this {@link holds}: waits for them, or until a {@link wake}; then undefined. */
  async next(after: Position, wanted: Wanted): Promise<Batch | undefined> {
    const batches = this.#after(after);
    if (batches.length === 0) {
      await this.#change.promise;
      return undefined;
    }
    const entries = batches.flatMap((batch) => batch.entries)
      .filter((entry) => entry.position > after && isWanted(entry, wanted));
    return { entries, upTo: batches.at(-1)!.upTo, bytes: 0 };
  }

  /** Has all that wait for entries look again at what they wait for. */
  wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  #after(position: Position): readonly Batch[] {
    const { batches } = this.#run ?? { batches: [] };
    const before = batches.findLastIndex(({ upTo }) => upTo <= position);
    return batches.slice(before + 1);
  }

  #keep(run: Run, batch: Batch): void {
    const { bufferEntries, bufferBytes } = this.#parts.tuning;
    run.batches.push(batch);
    run.entries += batch.entries.length;
    run.bytes += batch.bytes;
    while (run.batches.length > 1 && (run.entries > bufferEntries || run.bytes > bufferBytes)) {
      const { entries, upTo, bytes } = run.batches.shift()!;
      run.from = upTo;
      run.entries -= entries.length;
      run.bytes -= bytes;
    }
    this.wake();
  }
}
