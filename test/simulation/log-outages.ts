/** The length of an outage of the log that every process notices, ms. */
const noticedMs = 3_000;

/** The last outage of the log that every process noticed; times in ms of the simulation. */
export class LogOutages {
  readonly #now: () => number;
  #from = -Infinity;
  #to = -Infinity;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** An outage begins that lasts `forMs`, unless {@link end} is called before. */
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
   * When the lease of an attempt began that was claimed at `claimedAt`. An outage begins the lease again at its end, so
   * that workers can record outcomes first, unless the lease had ended before the outage.
   */
  leaseBegan(claimedAt: number, leaseMs: number): number {
    return this.#from - claimedAt >= leaseMs ? claimedAt : Math.max(claimedAt, this.#to);
  }
}
