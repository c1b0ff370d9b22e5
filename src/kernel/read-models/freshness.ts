import { fingerprint } from "../../../projections/index.ts";
import { refuse } from "../domain/refusal.ts";
import { type Clock, sleep, late, within } from "../ports/clock.ts";
import type { EventLog, Position } from "../ports/event-store.ts";
import type { ReadModels } from "../ports/read-models.ts";

/** How long a query waits for read models that can answer it. */
export const patienceMs = 2_000;
/** How soon read models that cannot answer yet are looked at again. */
export const lookAgainMs = 20;

/** Makes the read models as new as the query: an answer shows every write acknowledged before, through any process. */
export class Freshness {
  readonly #log: EventLog;
  readonly #readModels: ReadModels;
  readonly #clock: Clock;
  #next: Promise<Position> | undefined;
  #running: Promise<Position> | undefined;

  constructor(log: EventLog, readModels: ReadModels, clock: Clock) {
    this.#log = log;
    this.#readModels = readModels;
    this.#clock = clock;
  }

  /** Resolves with the log's end once the read models cover it; a Refusal (unavailable) after 2 s. */
  async wait(): Promise<Position> {
    const asked = this.#clock.monotonic();
    const head = await this.#head();
    await this.#cover(head, Math.max(0, patienceMs - (this.#clock.monotonic() - asked)));
    return head;
  }

  /** Asks `question`, free of side effects, once the read models cover the log's end; again where they were lost. */
  async ask<Result>(question: (head: Position) => Promise<Result>): Promise<Result> {
    const head = await this.wait();
    const end = this.#clock.monotonic() + patienceMs;
    while (this.#clock.monotonic() < end) {
      const answer = await question(head);
      if ((await this.#readModels.checkpoint()) >= head) return answer;
      await sleep(this.#clock, lookAgainMs);
      await this.#cover(head, Math.max(0, end - this.#clock.monotonic()));
    }
    refuse("unavailable", "the read models are being built again; try again");
  }

  /** Resolves when the entry at this place may be deleted; a Refusal (unavailable) otherwise, after 2 s. */
  async settle(position: Position): Promise<void> {
    await this.#cover(position);
    if (!(await this.#readModels.settle(fingerprint))) {
      refuse("unavailable", "the read models are being built again; try again");
    }
  }

  async #cover(position: Position, withinMs = patienceMs): Promise<void> {
    if (!(await this.#readModels.caughtUp(position, withinMs))) {
      refuse("unavailable", "the read models are behind; try again");
    }
  }

  /** Where the log ends, at the call or a moment later; a Refusal (unavailable) where it does not say so within 2 s. */
  async #head(): Promise<Position> {
    const head = await within(this.#clock, patienceMs, this.#look());
    if (head === late) refuse("unavailable", "the log does not say where it ends; try again");
    return head;
  }

  #look(): Promise<Position> {
    if (!this.#running) return (this.#running = this.#log.head().finally(() => (this.#running = undefined)));
    // A look already under way may see a head older than this query.
    return (this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#look();
      }));
  }
}
