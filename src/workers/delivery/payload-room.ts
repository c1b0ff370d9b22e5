const size = 64 * 2 ** 20;

/**
 * Room for the payloads that are at hand in all lanes of a worker: with many slow destinations they would otherwise
 * exceed the memory. What has no room waits in the due index, which knows only ids.
 */
export class PayloadRoom {
  #left: number;

  /** `characters`: of payloads, together. */
  constructor(characters = size) {
    this.#left = characters;
  }

  /** Takes room for a payload; false where there is none. */
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
