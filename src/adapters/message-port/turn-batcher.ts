/** Gathers what comes within one turn of the event loop, to be sent together at its end. */
export class TurnBatcher<Item> {
  readonly #send: (items: readonly Item[]) => void;
  #items: Item[] = [];

  constructor(send: (items: readonly Item[]) => void) {
    this.#send = send;
  }

  /** Leaves an item to be sent with the others of this turn, in order. */
  add(item: Item): void {
    if (this.#items.push(item) === 1) setImmediate(() => this.flush());
  }

  /** Sends at once what there is. */
  flush(): void {
    if (this.#items.length === 0) return;
    const items = this.#items;
    this.#items = [];
    this.#send(items);
  }
}
