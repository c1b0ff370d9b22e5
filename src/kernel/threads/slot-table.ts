/** Slots at most, and the turns after which numbers repeat. */
const mostSlots = 2 ** 20;
const mostTurns = 2 ** 32;

/**
 * Items that wait for an answer, each under a number of its own. Slots are reused, numbers are not: a late answer finds
 * no item.
 *
 * Not a Map: docs/adr/0024 says why not for the short-lived objects of requests.
 */
export class SlotTable<Item> {
  readonly #slots: ({ readonly number: number; readonly item: Item } | null)[] = [];
  readonly #free: number[] = [];
  #turn = 0;

  /** How many items wait. */
  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Adds an item; answers its number. Throws a RangeError for more than a million at once. */
  add(item: Item): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    if (slot === mostSlots) throw new RangeError("too many things wait for an answer");
    this.#turn = (this.#turn + 1) % mostTurns;
    const number = this.#turn * mostSlots + slot;
    this.#slots[slot] = { number, item };
    return number;
  }

  /** Removes the item with this number; undefined where there is none. */
  take(number: number): Item | undefined {
    const slot = number % mostSlots;
    const found = this.#slots[slot];
    if (found?.number !== number) return undefined;
    this.#slots[slot] = null;
    this.#free.push(slot);
    return found.item;
  }

  /** Removes all items. */
  takeAll(): Item[] {
    return this.#slots.flatMap((found) => (found ? [this.take(found.number)!] : []));
  }
}
