/** How much of the past counts, ms. */
const memoryMs = 50;
/** Appends in a millisecond up to which none waits for others, and from which on they wait as long as they may. */
const few = 1.25;
const many = 2;

/**
 * How long to gather appends before they are sent. Each commit costs the same however many appends it has, and each
 * message wakes two threads: where appends are few nobody waits, where they are many each waits a moment for others.
 */
export class Pace {
  readonly #longestMs: number;
  #sentAt = -Infinity;
  #appends = 0;
  #ms = 0;
  #gapMs = 0;

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** How long the next batch is to wait, ms. `now`: monotonic. */
  pause(now: number): number {
    return Math.max(0, this.#sentAt + this.#gapMs - now);
  }

  /** A batch goes now. */
  sent(now: number, appends: number): void {
    const elapsed = Math.min(now - this.#sentAt, 10 * memoryMs);
    const kept = Math.exp(-elapsed / memoryMs);
    this.#appends = this.#appends * kept + appends;
    this.#ms = this.#ms * kept + elapsed;
    const share = (this.#appends / this.#ms - few) / (many - few);
    this.#gapMs = this.#longestMs * Math.min(Math.max(share, 0), 1);
    this.#sentAt = now;
  }
}
