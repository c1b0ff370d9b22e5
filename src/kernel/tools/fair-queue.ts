/** A queue in which owners take turns. An item weighs 1, unless `weigh` says otherwise. */
export class FairQueue<Item> {
  readonly #weigh: (item: Item) => number;
  readonly #lines = new Map<string, Item[]>();

  constructor(weigh: (item: Item) => number = () => 1) {
    this.#weigh = weigh;
  }

  get size(): number {
    return [...this.#lines.values()].reduce((sum, line) => sum + line.length, 0);
  }

  waiting(owner: string): number {
    return this.#lines.get(owner)?.length ?? 0;
  }

  /** Puts an item behind all others of its owner; an owner without any gets the last turn. */
  push(owner: string, item: Item): void {
    const line = this.#lines.get(owner);
    if (line) line.push(item);
    else this.#lines.set(owner, [item]);
  }

  putBack(owner: string, item: Item): void {
    this.#lines.set(owner, [item, ...(this.#lines.get(owner) ?? [])]);
  }

  take(may: (owner: string, first: Item) => boolean = () => true): Item | undefined {
    for (const [owner, line] of this.#lines) {
      if (!may(owner, line[0]!)) continue;
      const item = line.shift();
      this.#lines.delete(owner);
      if (line.length > 0) this.#lines.set(owner, line);
      return item;
    }
    return undefined;
  }

  /** Takes out the newest item of the owner with most, to make room; undefined where `owner` would have more. */
  takeForRoom(owner: string, weight: number): Item | undefined {
    const heaviest = this.#heaviest();
    if (heaviest === undefined || this.#weight(heaviest) <= this.#weight(owner) + weight) return undefined;
    const line = this.#lines.get(heaviest);
    const item = line?.pop();
    if (line?.length === 0) this.#lines.delete(heaviest);
    return item;
  }

  remove(owner: string, item: Item): boolean {
    const line = this.#lines.get(owner);
    const at = line?.indexOf(item) ?? -1;
    if (at >= 0) line?.splice(at, 1);
    if (line?.length === 0) this.#lines.delete(owner);
    return at >= 0;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  clear(): Item[] {
    const items = [...this.#lines.values()].flat();
    this.#lines.clear();
    return items;
  }

  #weight(owner: string): number {
    return (this.#lines.get(owner) ?? []).reduce((sum, item) => sum + this.#weigh(item), 0);
  }

  #heaviest(): string | undefined {
    let heaviest: string | undefined;
    let most = 0;
    for (const owner of this.#lines.keys()) {
      const weight = this.#weight(owner);
      if (weight <= most) continue;
      heaviest = owner;
      most = weight;
    }
    return heaviest;
  }
}
