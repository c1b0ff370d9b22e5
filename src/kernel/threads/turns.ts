/** Sends the items of one turn of the event loop together, at its end. */
export class TurnBatcher<Item> {
  readonly #send: (items: readonly Item[]) => void;
  #items: Item[] = [];

  constructor(send: (items: readonly Item[]) => void) {
    this.#send = send;
  }

  add(item: Item): void {
    if (this.#items.push(item) === 1) setImmediate(() => this.flush());
  }

  flush(): void {
    if (this.#items.length === 0) return;
    const items = this.#items;
    this.#items = [];
    this.#send(items);
  }
}

const shareMs = 10;

/** Runs long work in short pieces, which take about 10 ms of a turn together; the others wait, in order. */
class TurnShare {
  readonly #waiting: (() => void)[] = [];
  #spentMs = 0;
  #isRenewing = false;

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

/** Runs a piece of long work in this thread's {@link TurnShare}. */
export function inTurn<Result>(piece: () => Result): Promise<Result> {
  return share.run(piece);
}
