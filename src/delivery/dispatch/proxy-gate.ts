import type { Clock, Timer } from "../../kernel/ports/clock.ts";

/** How long an attempt or a tunnel proves that the outbound proxy works, ms. */
const provenMs = 5_000;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Whether the attempts of one destination may go out through the outbound proxy. Without a proxy they always may. */
export class ProxyGate {
  readonly #clock: Pick<Clock, "monotonic" | "schedule">;
  readonly #isUsed: boolean;
  readonly #resume: () => void;
  #provenUntil = -Infinity;
  #problem: string | null = null;
  #pauseMs = 0;
  #trying = false;
  #pause: Timer | undefined;

  constructor(clock: Pick<Clock, "monotonic" | "schedule">, isUsed: boolean, resume: () => void) {
    this.#clock = clock;
    this.#isUsed = isUsed;
    this.#resume = resume;
  }

  get open(): boolean {
    return !this.#isUsed || this.#clock.monotonic() < this.#provenUntil;
  }

  /** Why the proxy failed last, until it works again. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether the proxy is to be tried: no attempt has proven it lately, and no pause is on. */
  get mayTry(): boolean {
    return !this.open && !this.#trying && !this.#pause;
  }

  /** Tries the proxy by a task that resolves to its failure, or to null. */
  async try(task: () => Promise<string | null>): Promise<void> {
    this.#trying = true;
    try {
      const problem = await task();
      if (problem === null) this.#prove();
      else this.fail(problem);
    } finally {
      this.#trying = false;
    }
  }

  /** An attempt went through the proxy. Only that ends the doubling of pauses. */
  pass(): void {
    if (!this.#isUsed) return;
    this.#pauseMs = 0;
    this.#prove();
  }

  /** The proxy failed: a pause begins, of 1 s, doubling to 30 s. Failures during a pause prolong nothing. */
  fail(problem: string): void {
    this.#problem = problem;
    this.#provenUntil = -Infinity;
    if (this.#pause) return;
    this.#pauseMs = Math.min(Math.max(2 * this.#pauseMs, firstPauseMs), longestPauseMs);
    this.#pause = this.#clock.schedule(this.#pauseMs, () => {
      this.#pause = undefined;
      this.#resume();
    });
  }

  /** From now on the end of a pause does not call `resume`. */
  unwatch(): void {
    this.#pause?.cancel();
  }

  #prove(): void {
    this.#problem = null;
    this.#provenUntil = this.#clock.monotonic() + provenMs;
  }
}
