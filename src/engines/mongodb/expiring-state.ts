import { randomUUID } from "node:crypto";
import type { Collection, Document as Stored } from "mongodb";
import {
  ExpiringStateUnavailable, type ExpiringState, type RateLimit, type RateLimitSlot, type Tally, type TallyLimits,
} from "../../kernel/ports/expiring-state.ts";
import { patience, type MongoConnection } from "./connection.ts";
import { RateLimitCounters } from "./rate-limit-counters.ts";
import { after, hasEnded, serverTime, type Now } from "./server-time.ts";
import { unlessMade } from "./upsert.ts";

/** A value or a lease's holder. `end` null: it does not expire. */
interface Entry extends Stored {
  readonly _id: string;
  readonly value: string;
  readonly end: Date | null;
}

/** Expiring state for any number of processes, by the server's time. Each call is one atomic change. */
export class MongoExpiringState implements ExpiringState {
  readonly #connection: MongoConnection;
  readonly #now: Now;
  readonly #values: Collection<Entry>;
  readonly #leases: Collection<Entry>;
  readonly #rateLimits: RateLimitCounters;
  readonly #tallies: TallyLists;
  #prepared: Promise<void> | undefined;

  /** `now`: the time, for tests. `mostKeys`: the most rate-limit keys of each kind. */
  constructor(
    connection: MongoConnection,
    { now = serverTime, mostKeys }: { readonly now?: Now; readonly mostKeys?: number } = {},
  ) {
    this.#connection = connection;
    this.#now = now;
    this.#values = connection.db.collection("values");
    this.#leases = connection.db.collection("leases");
    this.#rateLimits = new RateLimitCounters(connection, now, mostKeys);
    this.#tallies = new TallyLists(connection, now);
  }

  async get(keys: readonly string[]): Promise<readonly (string | null)[]> {
    const now = this.#now();
    const filter = { _id: { $in: [...keys] }, $or: [{ end: null }, { $expr: { $not: hasEnded("$end", now) } }] };
    const found = await this.#reach((signal) => this.#values.find(filter, { signal }).toArray());
    const byKey = new Map(found.map(({ _id: key, value }) => [key, value]));
    return keys.map((key) => byKey.get(key) ?? null);
  }

  async put(key: string, value: string, ttlMs: number | null): Promise<void> {
    const end = ttlMs === null ? null : after(this.#now(), ttlMs);
    const update = [{ $set: { value: { $literal: value }, end } }];
    await this.#reach((signal) =>
      unlessMade(() => this.#values.updateOne({ _id: key }, update, { upsert: true, signal })));
  }

  async admit(keys: readonly string[], limit: RateLimit): Promise<RateLimitSlot | null> {
    const slot = { id: randomUUID(), keys };
    return (await this.#reach((signal) => this.#rateLimits.admit(slot, limit, signal))) ? slot : null;
  }

  async forgive(slot: RateLimitSlot): Promise<void> {
    await this.#reach((signal) => this.#rateLimits.forgive(slot, signal));
  }

  async lease(name: string, owner: string, ttlMs: number): Promise<boolean> {
    const now = this.#now();
    const mine = { $literal: owner };
    const isFree = { $or: [{ $eq: ["$value", mine] }, hasEnded("$end", now)] };
    const taken = {
      value: { $cond: [isFree, mine, "$value"] },
      end: { $cond: [isFree, after(now, ttlMs), "$end"] },
    };
    const options = { upsert: true, returnDocument: "after" } as const;
    const lease = await this.#reach((signal) =>
      unlessMade(() => this.#leases.findOneAndUpdate({ _id: name }, [{ $set: taken }], { ...options, signal })));
    return lease?.value === owner;
  }

  async release(name: string, owner: string): Promise<void> {
    await this.#reach((signal) => this.#leases.deleteOne({ _id: name, value: owner }, { signal }));
  }

  async tally(additions: readonly Tally[], limits: TallyLimits): Promise<void> {
    await this.#reach((signal) => this.#tallies.add(additions, limits, signal));
  }

  async tallies(list: string): Promise<readonly Tally[]> {
    return this.#reach((signal) => this.#tallies.of(list, signal));
  }

  async dropTallies(list: string): Promise<void> {
    await this.#reach((signal) => this.#tallies.drop(list, signal));
  }

  async #reach<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    await this.#prepare();
    return this.#connection.reach(ExpiringStateUnavailable, patience.questionMs, work);
  }

  #prepare(): Promise<void> {
    this.#prepared ??= this.#connection
      .reach(ExpiringStateUnavailable, patience.questionMs, async () => {
        // Without the signal: a slow index build completes for a later try.
        const collections = [
          this.#values, this.#leases, this.#rateLimits.collection, this.#tallies.collection,
        ] as unknown as Collection[];
        await Promise.all([
          ...collections.map((one) => one.createIndex({ end: 1 }, { expireAfterSeconds: 0 }, {})),
          this.#rateLimits.collection.createIndex({ kind: 1, end: 1 }),
          this.#tallies.collection.createIndex({ list: 1, lastAt: 1, _id: 1 }),
        ]);
      })
      .catch((error: unknown) => {
        this.#prepared = undefined;
        throw error;
      });
    return this.#prepared;
  }
}

interface StoredTally extends Stored, Omit<Tally, "id"> {
  readonly _id: string;
  readonly end: Date;
}

class TallyLists {
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
