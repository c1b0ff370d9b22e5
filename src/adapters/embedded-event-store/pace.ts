/** How much of the past counts, ms. */
const memoryMs = 50;
/** Appends in a millisecond up to which none waits for others, and from which on they wait as long as they may. */
const few = 1.25;
const many = 2;
/** How often the other way is tried, and how long, ms. */
const trialEveryMs = 1_000;
const trialMs = 50;
/** With so many times the appends when none waits, it is the answers that the next appends wait for. */
const heldUp = 1.4;

/**
 * How long to gather appends before they are sent. Each commit costs the same however many appends it has, and each
 * message wakes two threads: where appends are few nobody waits, where they are many each waits a moment for others.
 * But a few callers that append again as soon as they are answered would only be held up: every second it is tried
 * whether more appends come when none waits.
 */
export class Pace {
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
