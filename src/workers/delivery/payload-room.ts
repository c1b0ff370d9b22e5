/**
 * Room for payloads in all lanes of a worker: with many slow destinations they would otherwise exceed the memory. What
 * has no room waits in the due index, which knows only ids.
 */
export class PayloadRoom {
  #left: number;

  /** `characters`: of payloads, together. */
  constructor(characters: number) {
    this.#left = characters;
  }

  /** Takes room for a payload; false where there is none. */
  take(payload: string): boolean {
    if (payload.length > this.#left) return false;
    this.#left -= payload.length;
    return true;
  }

  /** Takes room for a payload that is there already, though there be none. */
  occupy(payload: string): void {
    this.#left -= payload.length;
  }

  /**
   * Whether a lane that holds so many characters may take more: while it holds less than what is left to all others. So
   * one busy lane leaves half of the room, two leave a third, and a lane that holds none always gets some.
   */
  allows(characters: number): boolean {
    return characters === 0 || characters < this.#left;
  }

  /** Gives back what a payload took. */
  giveBack(payload: string): void {
    this.#left += payload.length;
  }
}
