const mostSlots = 2 ** 20;
const mostTurns = 2 ** 32;

/** Items under numbers that never repeat soon, so late answers find none. Not a Map: see docs/adr/0024. */
export class SlotTable<Item> {
  readonly #slots: ({ readonly number: number; readonly item: Item } | null)[] = [];
  readonly #free: number[] = [];
  #turn = 0;

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  add(item: Item): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    if (slot === mostSlots) throw new RangeError("too many things wait for an answer");
    this.#turn = (this.#turn + 1) % mostTurns;
    const number = this.#turn * mostSlots + slot;
    this.#slots[slot] = { number, item };
    return number;
  }

  take(number: number): Item | undefined {
    const slot = number % mostSlots;
    const found = this.#slots[slot];
    if (found?.number !== number) return undefined;
    this.#slots[slot] = null;
    this.#free.push(slot);
    return found.item;
  }

  takeAll(): Item[] {
    return this.#slots.flatMap((found) => (found ? [this.take(found.number)!] : []));
  }
}
