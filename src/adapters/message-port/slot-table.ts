/** Slots at most, and the turns after which numbers come again. */
const mostSlots = 2 ** 20;
const mostTurns = 2 ** 32;

/**
 * What waits for an answer, each thing under a number of its own. Slots are used again, numbers are not: an answer that
 * comes too late finds nothing.
 *
 * Not a Map: docs/adr/0024 says why not for what comes and goes with every request.
 */
export class SlotTable<Item> {
  readonly #slots: ({ readonly number: number; readonly item: Item } | null)[] = [];
  readonly #free: number[] = [];
  #turn = 0;

  /** How many things wait. */
  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Keeps a thing; answers its number. Throws a RangeError for more than a million at once. */
  add(item: Item): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    if (slot === mostSlots) throw new RangeError("too many things wait for an answer");
    this.#turn = (this.#turn + 1) % mostTurns;
    const number = this.#turn * mostSlots + slot;
    this.#slots[slot] = { number, item };
    return number;
  }

  /** Lets go of the thing that has this number; undefined where none has. */
  take(number: number): Item | undefined {
    const slot = number % mostSlots;
    const found = this.#slots[slot];
    if (found?.number !== number) return undefined;
    this.#slots[slot] = null;
    this.#free.push(slot);
    return found.item;
  }

  /** Lets go of everything. */
  takeAll(): Item[] {
    return this.#slots.flatMap((found) => (found ? [this.take(found.number)!] : []));
  }
}
