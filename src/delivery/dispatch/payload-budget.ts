import { mayTake } from "../../kernel/tools/fair-share.ts";

/**
 * Limits the memory for payloads in all dispatchers of a worker. Other events wait in the due index, which knows only
 * ids.
 */
export class PayloadBudget {
  #left: number;

  /** `characters`: of payloads, together. */
  constructor(characters: number) {
    this.#left = characters;
  }

  /** Takes a payload into the budget; false where it does not fit. */
  take(payload: string): boolean {
    if (payload.length > this.#left) return false;
    this.#left -= payload.length;
    return true;
  }

  /** Takes a payload into the budget even where it does not fit: it is in memory already. */
  occupy(payload: string): void {
    this.#left -= payload.length;
  }

  /**
   * Whether a dispatcher that holds so many characters may take more ({@link mayTake}). A dispatcher that holds none
   * always may.
   */
  allows(characters: number): boolean {
    return characters === 0 || mayTake(1, characters, this.#left);
  }

  /** Takes a payload out of the budget. */
  giveBack(payload: string): void {
    this.#left += payload.length;
  }
}
