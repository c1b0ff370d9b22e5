import type { Stored } from "./events.ts";

/** The revision of a stream that holds no event. */
export const noEvent = -1n;
export const metadataType = "$metadata";
/** The value of `$tb` when the whole stream was deleted; 2^63 - 1 on the wire, which a number cannot hold. */
export const softDeletedBefore = 9223372036854776000;

export const metastreamOf = (name: string) => `$$${name}`;

interface Metadata {
  readonly $tb?: number;
  readonly $maxCount?: number;
  /** Seconds. */
  readonly $maxAge?: number;
}

/** One stream: its events by revision, of which its metadata may hide some from readers. */
export class Stream {
  readonly name: string;
  metadata: Metadata = {};
  /** False for a while after it began again: readers do not find it yet. */
  isBack: () => boolean = () => true;
  /** By revision from `#base` on. */
  #events: Stored[] = [];
  #base = 0;
  #tombstone: Stored | undefined;
  #last: Stored | undefined;

  constructor(name: string) {
    this.name = name;
    if (name.startsWith("$$")) this.metadata = { $maxCount: 1 };
  }

  get last(): Stored | undefined {
    return this.#last;
  }

  get tombstone(): Stored | undefined {
    return this.#tombstone;
  }

  get softDeleted(): boolean {
    return this.metadata.$tb === softDeletedBefore;
  }

  /** Whether readers find it. */
  get isFound(): boolean {
    return this.#last !== undefined && !this.softDeleted && this.isBack();
  }

  push(event: Stored): void {
    if (event.type === "$streamDeleted") this.#tombstone = event;
    else {
      this.#events.push(event);
      this.#last = event;
    }
  }

  /** The event at a revision, shown or not, as long as no scavenge took it. */
  event(revision: bigint): Stored | undefined {
    return this.#events[Number(revision) - this.#base];
  }

  /** The revision of the newest event with this id. */
  revisionOf(id: string): bigint | undefined {
    return this.#events.findLast((event) => event.id === id)?.revision;
  }

  /** Up to `limit` events that readers see, from a revision, inclusive. */
  read(from: bigint, limit: number, backwards: boolean): Stored[] {
    const first = this.#firstShown();
    const last = this.#events.length - 1;
    if (backwards) {
      const start = from > BigInt(last + this.#base) ? last : Number(from) - this.#base;
      return this.#events.slice(Math.max(first, start - limit + 1), start + 1).reverse();
    }
    if (from > BigInt(last + this.#base)) return [];
    const start = Math.max(first, Number(from) - this.#base);
    return this.#events.slice(start, start + limit);
  }

  /** Whether readers of the stream see the event. */
  shows(event: Stored): boolean {
    if (event === this.#tombstone) return true;
    return !this.#tombstone && Number(event.revision) - this.#base >= this.#firstShown();
  }

  /** Forgets the hidden events before a position; the last event's revision is kept. */
  sweep(before: bigint): void {
    const shown = this.#tombstone ? this.#events.length : this.#firstShown();
    const there = this.#events.findIndex(({ position }) => position >= before);
    const kept = there < 0 ? shown : Math.min(shown, there);
    this.#base += kept;
    this.#events = this.#events.slice(kept);
  }

  /** The index of the first event that the metadata shows. */
  #firstShown(): number {
    const { $tb = 0, $maxCount, $maxAge } = this.metadata;
    let first = Math.min(Math.max(0, $tb - this.#base), this.#events.length);
    if ($maxCount !== undefined) first = Math.max(first, this.#events.length - $maxCount);
    if ($maxAge !== undefined) {
      const oldest = Date.now() - $maxAge * 1000;
      while (first < this.#events.length && this.#events[first]!.created < oldest) first++;
    }
    return first;
  }
}
