import type { Clock, Timer } from "../../kernel/ports/clock.ts";

const tickMs = 10;
/** How much a bucket holds beyond one token, in seconds of its rate: later wake-ups lose none. */
const spareS = 0.05;
/** The parts of a token that sums of fractions may lack. */
const rounding = 1e-6;

/** Wakes the dispatchers that wait for their pace: one timer for all of a worker, none while nobody waits. */
export class PaceTimer {
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Set<() => void>>();
  #timer: { readonly tick: number; readonly timer: Timer } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `resume` once, `ms` from now or up to a tick later. */
  wake(ms: number, resume: () => void): void {
    const tick = Math.ceil((this.#clock.monotonic() + ms) / tickMs);
    const others = this.#waiting.get(tick);
    if (others) others.add(resume);
    else this.#waiting.set(tick, new Set([resume]));
    if (this.#timer && this.#timer.tick <= tick) return;
    this.#timer?.timer.cancel();
    this.#schedule(tick);
  }

  #schedule(tick: number): void {
    const timer = this.#clock.schedule(Math.max(0, tick * tickMs - this.#clock.monotonic()), () => this.#ring());
    this.#timer = { tick, timer };
  }

  #ring(): void {
    this.#timer = undefined;
    const due = [...this.#waiting.keys()].filter((tick) => tick * tickMs <= this.#clock.monotonic());
    const resumed = due.flatMap((tick) => [...this.#waiting.get(tick)!]);
    for (const tick of due) this.#waiting.delete(tick);
    if (this.#waiting.size > 0) this.#schedule(Math.min(...this.#waiting.keys()));
    for (const resume of resumed) resume();
  }
}

/** The token bucket of a destination's `ratePerSecond`: empty at its start, each attempt takes one token. */
export class Pace {
  readonly #clock: Clock;
  readonly #timer: PaceTimer;
  readonly #resume: () => void;
  #perSecond: number | null = null;
  #tokens = 0;
  #filledAt = 0;
  #waits = false;

  constructor({ clock, paceTimer }: { readonly clock: Clock; readonly paceTimer: PaceTimer }, resume: () => void) {
    this.#clock = clock;
    this.#timer = paceTimer;
    this.#resume = resume;
  }

  /** Follows the setting; a new rate begins with an empty bucket. */
  follow(perSecond: number | null): void {
    if (perSecond === this.#perSecond) return;
    this.#perSecond = perSecond;
    this.#tokens = 0;
    this.#filledAt = this.#clock.monotonic();
  }

  /** Whether an attempt may begin now. */
  get admits(): boolean {
    if (this.#perSecond === null) return true;
    this.#fill(this.#perSecond);
    return this.#tokens >= 1 - rounding;
  }

  /** An attempt begins. Call only while it {@link admits}. */
  take(): void {
    if (this.#perSecond !== null) this.#tokens -= 1;
  }

  /** No attempt began after all: the next one may have its token. */
  giveBack(): void {
    if (this.#perSecond !== null) this.#tokens += 1;
  }

  /** Resumes once an attempt may begin. */
  wait(): void {
    if (this.#perSecond === null || this.#waits) return;
    this.#waits = true;
    this.#timer.wake((1 - this.#tokens) / this.#perSecond * 1_000, () => {
      this.#waits = false;
      this.#resume();
    });
  }

  #fill(perSecond: number): void {
    const now = this.#clock.monotonic();
    const tokens = this.#tokens + (now - this.#filledAt) / 1_000 * perSecond;
    this.#tokens = Math.min(tokens, 1 + spareS * perSecond);
    this.#filledAt = now;
  }
}
