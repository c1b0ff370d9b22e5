import { refuse } from "../domain/refusal.ts";
import { type Clock, sleep } from "../ports/clock.ts";
import type { ExpiringState } from "../ports/expiring-state.ts";
import type { Ids } from "../ports/ids.ts";

/** Longer than any task takes; so long others wait for a process that died in its turn, ms. */
const leaseMs = 10_000;
const patienceMs = 2_000;
const lookAgainMs = 20;

interface TurnsParts {
  readonly state: Pick<ExpiringState, "lease" | "release">;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Runs tasks of one name one after the other, across all processes. */
export class Turns {
  readonly #parts: TurnsParts;
  /** The end of the last task of each name in this process. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(parts: TurnsParts) {
    this.#parts = parts;
  }

  /** Runs a task in its turn. Throws a Refusal (unavailable) after 2 s, or ExpiringStateUnavailable. */
  async run<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(name);
    const over = Promise.withResolvers<void>();
    this.#last.set(name, over.promise);
    await before;
    try {
      return await this.#leased(name, task);
    } finally {
      over.resolve();
      if (this.#last.get(name) === over.promise) this.#last.delete(name);
    }
  }

  async #leased<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
    const { state, clock, ids } = this.#parts;
    const owner = ids.uuid();
    const until = clock.monotonic() + patienceMs;
    while (!(await state.lease(name, owner, leaseMs))) {
      if (clock.monotonic() >= until) refuse("unavailable", "the same is under way in another process; try again");
      await sleep(clock, lookAgainMs);
    }
    try {
      return await task();
    } finally {
      await state.release(name, owner).catch(() => undefined);
    }
  }
}
