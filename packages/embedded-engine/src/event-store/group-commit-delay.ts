/** The time constant of the measured rate: older appends count less and less. */
const memoryMs = 50;
/** Appends per millisecond: no pause up to `few`, the full pause from `many` on. */
const few = 1.25;
const many = 2;
/** Above `few`, the opposite choice (pauses or none) is tried this often and this long. */
const trialEveryMs = 1_000;
const trialMs = 50;
/** Pauses hold callers up if this many times more appends arrive without them. */
const heldUp = 1.4;

/**
 * How long to gather appends. A commit costs much, so at a high rate appends wait for others. Pauses only slow down a
 * few callers that append again once answered: trials show whether more appends arrive without them.
 */
export class GroupCommitDelay {
  readonly #longestMs: number;
  #sentAt = -Infinity;
  #appends = 0;
  #ms = 0;
  #gapMs = 0;
  /** The last trial's result: pauses hold callers up, so there are none. */
  #holdsUp = false;
  #trial: { readonly from: number; readonly rateBefore: number; appends: number } | undefined;
  #trialAt = 0;

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  pause(now: number): number {
    return Math.max(0, this.#sentAt + this.#gapMs - now);
  }

  sent(now: number, appends: number): void {
    const elapsed = Math.min(now - this.#sentAt, 10 * memoryMs);
    const kept = Math.exp(-elapsed / memoryMs);
    this.#appends = this.#appends * kept + appends;
    this.#ms = this.#ms * kept + elapsed;
    this.#sentAt = now;
    const rate = this.#appends / this.#ms;
    this.#tryOut(now, appends, rate);
    const share = Math.min(Math.max((rate - few) / (many - few), 0), 1);
    // A trial does the opposite.
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
