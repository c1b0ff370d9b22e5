import { Refusal } from "../domain/refusal.ts";
import type { EventLog, Position } from "../ports/event-store.ts";
import type { ReadModels } from "../ports/read-models.ts";

const patienceMs = 2_000;

/**
 * Makes the read models at least as new as the moment of the question: an answer shows every write
 * acknowledged before it was asked for, through whichever process. Many who ask at once share one look
 * at the log's head.
 */
export class Freshness {
  readonly #log: EventLog;
  readonly #readModels: ReadModels;
  #next: Promise<void> | undefined;
  #running: Promise<void> | undefined;

  constructor(log: EventLog, readModels: ReadModels) {
    this.#log = log;
    this.#readModels = readModels;
  }

  /** Resolves when the read models cover all that was in the log at the call; a Refusal (unavailable) after 2 s. */
  wait(): Promise<void> {
    if (!this.#running) return (this.#running = this.#look().finally(() => (this.#running = undefined)));
    // A look already under way may have seen a head older than this question.
    const running = this.#running;
    return (this.#next ??= running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.wait();
      }));
  }

  /** Resolves when the read models cover this place in the log; a Refusal (unavailable) after 2 s. */
  async cover(position: Position): Promise<void> {
    if (!(await this.#readModels.caughtUp(position, patienceMs))) {
      throw new Refusal("unavailable", "the read models are behind; try again");
    }
  }

  async #look(): Promise<void> {
    await this.cover(await this.#log.head());
  }
}
