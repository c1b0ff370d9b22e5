import type { Collection, Document as Stored } from "mongodb";
import type { Tally, TallyLimits } from "../../kernel/ports/expiring-state.ts";
import type { MongoConnection } from "./connection.ts";
import { after, hasEnded, type Now } from "./server-time.ts";
import { unlessMade } from "./upsert.ts";

interface StoredTally extends Stored, Omit<Tally, "id"> {
  readonly _id: string;
  readonly end: Date;
}

/** Lists of tallies, one document per tally. */
export class TallyLists {
  readonly collection: Collection<StoredTally>;
  readonly #now: Now;

  constructor(connection: MongoConnection, now: Now) {
    this.#now = now;
    this.collection = connection.db.collection("tallies");
  }

  async add(additions: readonly Tally[], limits: TallyLimits, signal: AbortSignal): Promise<void> {
    const begun = await Promise.all(additions.map((one) => this.#add(one, limits, signal)));
    const grown = new Set(additions.filter((_, index) => begun[index]).map(({ list }) => list));
    await Promise.all([...grown].map((list) => this.#dropSurplus(list, limits, signal)));
  }

  async of(list: string, signal: AbortSignal): Promise<readonly Tally[]> {
    const filter = { list, $expr: { $not: hasEnded("$end", this.#now()) } };
    const found = await this.collection.find(filter, { signal }).sort({ lastAt: -1, _id: -1 }).toArray();
    return found.map(({ _id, count, firstAt, lastAt, value }) =>
      ({ list, id: _id.slice(list.length + 1), count, firstAt, lastAt, value }));
  }

  async drop(list: string, signal: AbortSignal): Promise<void> {
    await this.collection.deleteMany({ list }, { signal });
  }

  async #add(
    { list, id, count, firstAt, lastAt, value }: Tally, { ttlMs }: TallyLimits, signal: AbortSignal,
  ): Promise<boolean> {
    const added = {
      list: { $literal: list },
      count: { $add: [{ $ifNull: ["$count", 0] }, count] },
      firstAt: { $min: [{ $ifNull: ["$firstAt", firstAt] }, firstAt] },
      lastAt: { $max: [{ $ifNull: ["$lastAt", lastAt] }, lastAt] },
      value: { $literal: value },
      end: after(this.#now(), ttlMs),
    };
    const { upsertedCount } = await unlessMade(() =>
      this.collection.updateOne({ _id: `${list}/${id}` }, [{ $set: added }], { upsert: true, signal }));
    return upsertedCount > 0;
  }

  async #dropSurplus(list: string, { most }: TallyLimits, signal: AbortSignal): Promise<void> {
    const surplus = await this.collection
      .find({ list }, { projection: { _id: 1 }, signal }).sort({ lastAt: -1, _id: -1 }).skip(most).toArray();
    if (surplus.length === 0) return;
    await this.collection.deleteMany({ _id: { $in: surplus.map(({ _id }) => _id) } }, { signal });
  }
}
