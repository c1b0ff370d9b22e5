/**
 * Room for payloads in all dispatchers of a worker: with many slow destinations they would otherwise exceed the memory.
 * Events without room wait in the due index, which knows only ids.
 */
export class PayloadBudget {
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
   * Whether a dispatcher that holds so many characters may take more: while it holds less than is left to all others.
   * So one busy dispatcher leaves half of the room, two leave a third, and one that holds none always gets some.
   */
  allows(characters: number): boolean {
    return characters === 0 || characters < this.#left;
  }

  /** Gives back what a payload took. */
  giveBack(payload: string): void {
    this.#left += payload.length;
  }
}
