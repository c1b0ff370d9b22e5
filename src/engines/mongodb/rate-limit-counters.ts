import type { Collection, Document as Stored } from "mongodb";
import { sleep } from "../../kernel/ports/clock.ts";
import { kindOf, usualMost, type RateLimit, type RateLimitSlot } from "../../kernel/ports/expiring-state.ts";
import type { MongoConnection } from "./connection.ts";
import { after, hasEnded, later, type Now } from "./server-time.ts";
import { unlessMade } from "./upsert.ts";

interface Admission {
  readonly id: string;
  readonly end: Date;
  readonly sure: boolean;
}

/** The admissions under a key. `end`: of the last one, or later. */
interface Admitted extends Stored {
  readonly _id: string;
  readonly admissions: readonly Admission[];
  readonly end: Date;
  readonly kind: string;
}

/** Admissions per process between two counts of the keys. */
const lookEvery = 1_000;

/** How long an unsure admission counts, should its process die. */
const unsureMs = 1_500;
const firstPauseMs = 5;
const longestPauseMs = 80;

/**
 * Rate limits as sliding windows, one document per key. With several keys, an admission is made under each in a common
 * order, then made sure. A caller kept out only by unsure admissions waits for their outcome.
 */
export class RateLimitCounters {
  readonly collection: Collection<Admitted>;
  readonly #connection: MongoConnection;
  readonly #now: Now;
  readonly #mostKeys: number;
  #admitted = 0;

  /** `mostKeys`: of each kind; the default takes some 100 MB. */
  constructor(connection: MongoConnection, now: Now, mostKeys = usualMost) {
    this.#connection = connection;
    this.#now = now;
    this.#mostKeys = mostKeys;
    this.collection = connection.db.collection("admissions");
  }

  async admit({ id, keys }: RateLimitSlot, limit: RateLimit, signal: AbortSignal): Promise<boolean> {
    const ordered = [...new Set(keys)].sort();
    const [only] = ordered;
    if (only === undefined) return true;
    if (ordered.length === 1) return this.#admitUnder(only, id, limit, { sure: true, signal });
    // Most refusals then write nothing.
    if (await this.#isAnyFull(ordered, limit, signal)) return false;
    for (;;) {
      const refused = await this.#firstRefused(ordered, id, limit, signal);
      if (refused === undefined && (await this.#ensure(ordered, id, limit, signal))) return true;
      await this.forgive({ id, keys: ordered }, signal);
      if (refused !== undefined) return false;
    }
  }

  async forgive({ id, keys }: RateLimitSlot, signal: AbortSignal): Promise<void> {
    if (keys.length === 0) return;
    const update = { $pull: { admissions: { id } } } as Stored;
    await this.collection.bulkWrite(
      keys.map((key) => ({ updateOne: { filter: { _id: key, "admissions.id": id }, update } })),
      { ordered: false, signal },
    );
  }

  async #isAnyFull(keys: readonly string[], { max }: RateLimit, signal: AbortSignal): Promise<boolean> {
    const now = this.#now();
    const counts = { $and: ["$$this.sure", { $not: hasEnded("$$this.end", now) }] };
    const found = await this.collection
      .aggregate([
        { $match: { _id: { $in: keys } } },
        { $project: { counted: { $size: { $filter: { input: "$admissions", cond: counts } } } } },
      ], { signal })
      .toArray();
    return found.some(({ counted }) => (counted as number) >= max);
  }

  async #firstRefused(
    keys: readonly string[], id: string, limit: RateLimit, signal: AbortSignal,
  ): Promise<string | undefined> {
    for (const key of keys) if (!(await this.#admitUnder(key, id, limit, { sure: false, signal }))) return key;
    return undefined;
  }

  async #admitUnder(
    key: string, id: string, { max, windowMs }: RateLimit,
    { sure, signal }: { readonly sure: boolean; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const now = this.#now();
    const admission = { id, end: after(now, sure ? windowMs : unsureMs), sure };
    const before = { $ifNull: ["$admissions", []] };
    // A repeated request counts once: its first answer may be lost.
    const other = { $ne: ["$$this.id", id] };
    const counting = { $filter: { input: before, cond: { $and: [other, { $not: hasEnded("$$this.end", now) }] } } };
    const admitted = {
      $cond: [{ $lt: [{ $size: "$admissions" }, max] }, { $concatArrays: ["$admissions", [admission]] }, "$admissions"],
    };
    const stages = [
      { $set: { admissions: counting } },
      { $set: { admissions: admitted } },
      { $set: { end: later("$end", after(now, windowMs)), kind: { $literal: kindOf(key) } } },
    ];
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const found = await this.#change(key, stages, signal);
      if (found.some((one) => one.id === id)) {
        this.#admitted += 1;
        // Not awaited; the next count makes up for a failed one.
        if (this.#admitted % Math.min(lookEvery, this.#mostKeys) === 0) this.#drop(kindOf(key)).catch(() => undefined);
        return true;
      }
      if (found.filter((one) => one.sure).length >= max) return false;
      await sleep(this.#connection.clock, pauseMs);
    }
  }

  async #change(key: string, stages: Stored[], signal: AbortSignal): Promise<readonly Admission[]> {
    const options = { upsert: true, returnDocument: "after", signal } as const;
    const changed = await unlessMade(() => this.collection.findOneAndUpdate({ _id: key }, stages, options));
    return changed?.admissions ?? [];
  }

  /** False if an admission has ended and was deleted meanwhile. */
  async #ensure(
    keys: readonly string[], id: string, { windowMs }: RateLimit, signal: AbortSignal,
  ): Promise<boolean> {
    const end = after(this.#now(), windowMs);
    const one = { $cond: [{ $eq: ["$$this.id", id] }, { id, end, sure: true }, "$$this"] };
    const stages = [
      { $set: { admissions: { $map: { input: "$admissions", in: one } } } },
      { $set: { end: later("$end", end) } },
    ];
    const filters = keys.map((key) => ({ _id: key, "admissions.id": id }));
    const { matchedCount } = await this.collection.bulkWrite(
      filters.map((filter) => ({ updateOne: { filter, update: stages } })),
      { ordered: false, signal },
    );
    return matchedCount === keys.length;
  }

  async #drop(kind: string): Promise<void> {
    const surplus = (await this.collection.countDocuments({ kind })) - this.#mostKeys;
    if (surplus <= 0) return;
    const [last] = await this.collection.find({ kind }).sort({ kind: 1, end: 1 }).skip(surplus - 1).limit(1).toArray();
    if (last) await this.collection.deleteMany({ kind, end: { $lte: last.end } });
  }
}
