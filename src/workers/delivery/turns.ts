/** How many turns there are at once: more would not be over sooner, and would keep others from being answered. */
const most = 64;

/** What can have a turn: it lasts until the promise resolves, and is over at once where there is none. */
interface Pumped {
  pump(): Promise<unknown> | undefined;
}

/**
 * Lanes on the way to their claims. However many are called, a bounded number at a time asks the engines for work and
 * claims it; the others wait, each once. A turn ends with the claim: only the relay's own engines can make it long,
 * never a receiver.
 */
export class Turns {
  readonly #waiting = new Set<Pumped>();
  #underWay = 0;

  /** Pumps the lane: at once, unless many are being pumped. */
  take(lane: Pumped): void {
    // Nothing waits then, as nearly always: the set is spared growing and shrinking all the time.
    if (this.#underWay < most) this.#pump(lane);
    else this.#waiting.add(lane);
  }

  #pump(lane: Pumped): void {
    const claimed = lane.pump();
    if (!claimed) return;
    this.#underWay += 1;
    void claimed.then(() => {
      this.#underWay -= 1;
      this.#next();
    });
  }

  #next(): void {
    for (const lane of this.#waiting) {
      if (this.#underWay === most) return;
      this.#waiting.delete(lane);
      this.#pump(lane);
    }
  }
}
