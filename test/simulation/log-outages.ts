/** Every process notices an outage of the log that lasts so long, ms. */
const noticedMs = 3_000;

/** When the log was away last, as far as every process noticed it; times in ms of the simulation. */
export class LogOutages {
  readonly #now: () => number;
  #from = -Infinity;
  #to = -Infinity;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The log does not answer for so long, ms, unless {@link end} is called before. */
  begin(forMs: number): void {
    if (forMs < noticedMs) return;
    const now = this.#now();
    if (now > this.#to) this.#from = now;
    this.#to = Math.max(this.#to, now + forMs);
  }

  end(): void {
    this.#to = Math.min(this.#to, this.#now());
  }

  /**
   * When the lease of an attempt that was claimed at a time began: again when the log was back, so that workers can
   * record outcomes first, unless it was over before.
   */
  leaseBegan(claimedAt: number, leaseMs: number): number {
    return this.#from - claimedAt >= leaseMs ? claimedAt : Math.max(claimedAt, this.#to);
  }
}
