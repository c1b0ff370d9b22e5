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

/** Milliseconds of one turn of the event loop that long work may take, all of it together. */
const shareMs = 10;

/**
 * Runs long work piece by piece. All pieces of a thread together take about 10 ms of a turn of its event loop, and one
 * piece more at most; the others wait for later turns, first come, first served. So a piece should be short.
 */
class TurnShare {
  readonly #waiting: (() => void)[] = [];
  #spentMs = 0;
  #isRenewing = false;

  /** Runs a piece, at once where this turn has time left. Rejects with the error of the piece. */
  run<Result>(piece: () => Result): Promise<Result> {
    return new Promise((resolve) => {
      const timed = () => {
        const begun = performance.now();
        resolve(new Promise<Result>((done) => done(piece())));
        this.#spentMs += performance.now() - begun;
      };
      if (this.#waiting.length === 0 && this.#spentMs < shareMs) timed();
      else this.#waiting.push(timed);
      this.#renewNextTurn();
    });
  }

  #renewNextTurn(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    setImmediate(() => {
      this.#isRenewing = false;
      this.#spentMs = 0;
      while (this.#waiting.length > 0 && this.#spentMs < shareMs) this.#waiting.shift()?.();
      if (this.#spentMs > 0) this.#renewNextTurn();
    });
  }
}

const share = new TurnShare();

/** Runs a piece of long work as {@link TurnShare} of this thread does. */
export function inTurn<Result>(piece: () => Result): Promise<Result> {
  return share.run(piece);
}
