const size = 64 * 2 ** 20;

/**
 * Room for the payloads that are at hand in all lanes of a worker: with many slow destinations they would otherwise be
 * more than memory holds. What has no room waits in the due index, which knows ids only.
 */
export class PayloadRoom {
  #left: number;

  /** `characters`: of payloads, together. */
  constructor(characters = size) {
    this.#left = characters;
  }

  /** Whether a payload had room; it is taken then. */
  take(payload: string): boolean {
    if (payload.length > this.#left) return false;
    this.#left -= payload.length;
    return true;
  }

  /** Gives back what a payload took. */
  giveBack(payload: string): void {
    this.#left += payload.length;
  }
}
