/** The rate of appends is that of about the last so many milliseconds: what is older counts less and less. */
const memoryMs = 50;
/** Appends per millisecond: up to `few` there are no pauses; they grow until at `many` they are as long as they may. */
const few = 1.25;
const many = 2;
/** With more than `few`, the opposite of what is done is tried so often and for so long: pauses, or none. */
const trialEveryMs = 1_000;
const trialMs = 50;
/** Where so many times as many appends come without pauses as with them, pauses hold callers up. */
const heldUp = 1.4;

/**
 * How long to gather appends before they are sent. A commit costs the same however many appends it has, and each
 * message wakes two threads, so where appends are many each waits a moment for others; where they are few none does.
 * But where many come from a few callers who append again as soon as they are answered, a pause only holds them up:
 * every second it is tried whether more appends come without pauses.
 */
export class GroupCommitDelay {
  readonly #longestMs: number;
  #sentAt = -Infinity;
  #appends = 0;
  #ms = 0;
  #gapMs = 0;
  /** Whether pauses hold callers up, as far as was tried: then there are none. */
  #holdsUp = false;
  #trial: { readonly from: number; readonly rateBefore: number; appends: number } | undefined;
  /** When the next trial begins (monotonic). */
  #trialAt = 0;

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
    this.#sentAt = now;
    const rate = this.#appends / this.#ms;
    this.#tryOut(now, appends, rate);
    const share = Math.min(Math.max((rate - few) / (many - few), 0), 1);
    // While it is tried it is done the other way.
    const waits = this.#holdsUp === (this.#trial !== undefined);
    this.#gapMs = waits ? this.#longestMs * share : 0;
  }

  #tryOut(now: number, appends: number, rate: number): void {
    if (rate <= few) {
      this.#trial = undefined;
      this.#holdsUp = false;
      this.#trialAt = now + 5 * memoryMs;
    } else if (this.#trial) {
      this.#trial.appends += appends;
      const ms = now - this.#trial.from;
      if (ms < trialMs) return;
      const [tried, before] = [this.#trial.appends / ms, this.#trial.rateBefore];
      const [withPauses, without] = this.#holdsUp ? [tried, before] : [before, tried];
      this.#holdsUp = without > heldUp * withPauses;
      this.#trial = undefined;
      this.#trialAt = now + trialEveryMs;
    } else if (now >= this.#trialAt) {
      this.#trial = { from: now, rateBefore: rate, appends: 0 };
    }
  }
}
