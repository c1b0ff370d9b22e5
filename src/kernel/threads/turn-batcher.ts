/** Gathers the items of one turn of the event loop, and sends them together at its end. */
export class TurnBatcher<Item> {
  readonly #send: (items: readonly Item[]) => void;
  #items: Item[] = [];

  constructor(send: (items: readonly Item[]) => void) {
    this.#send = send;
  }

  /** Adds an item, to be sent with the others of this turn, in order. */
  add(item: Item): void {
    if (this.#items.push(item) === 1) setImmediate(() => this.flush());
  }

  /** Sends the gathered items at once. */
  flush(): void {
    if (this.#items.length === 0) return;
    const items = this.#items;
    this.#items = [];
    this.#send(items);
  }
}
