import { mayTake } from "../../kernel/tools/fair-share.ts";

/** Limits the memory for payloads in a worker's dispatchers. Other events wait in the due index, which has only ids. */
export class PayloadBudget {
  #left: number;

  constructor(characters: number) {
    this.#left = characters;
  }

  take(payload: string): boolean {
    if (payload.length > this.#left) return false;
    this.#left -= payload.length;
    return true;
  }

  /** Takes a payload into the budget even where it does not fit: it is in memory already. */
  occupy(payload: string): void {
    this.#left -= payload.length;
  }

  /** Whether a dispatcher with so many characters may take more ({@link mayTake}); one without any may. */
  allows(characters: number): boolean {
    return characters === 0 || mayTake(1, characters, this.#left);
  }

  giveBack(payload: string): void {
    this.#left += payload.length;
  }
}
