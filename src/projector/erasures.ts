import { LRUCache } from "lru-cache";
import { collections } from "../../projections/index.ts";
import { remove } from "../../projections/projection.ts";
import { erasures, tenants } from "../../projections/tenants/tenants.ts";
import { tenantOf } from "../kernel/domain/domain-event.ts";
import { streams } from "../kernel/domain/streams.ts";
import type { EventStore, LogEntry, Position } from "../kernel/ports/event-store.ts";
import type { CollectionDefinition, ReadModels, ReadModelWriter } from "../kernel/ports/read-models.ts";
import { everyDocument } from "../kernel/read-models/scans.ts";

const slice = 500;

type Rows = Pick<ReadModels, "find"> & Pick<ReadModelWriter, "amend" | "removeCounters">;

const keptInMemory = 50_000;
const owned = collections.filter(({ name, fields }) => "tenantId" in fields && name !== erasures.name);

/** Removes erased tenants from the read models, in slices between batches. Their streams are deleted already. */
export class Erasures {
  readonly #readModels: Rows;
  #pending: readonly string[] = [];

  constructor(readModels: Rows) {
    this.#readModels = readModels;
  }

  /** Reads the erased tenants. Call it before the first {@link step}, and after a fact of an erasure. */
  async load(): Promise<void> {
    this.#pending = (await everyDocument(this.#readModels, erasures)).map(({ tenantId }) => tenantId);
  }

  get pending(): boolean {
    return this.#pending.length > 0;
  }

  /** Does a part of the work. May be called again after it throws. */
  async step(): Promise<void> {
    const [tenantId, ...others] = this.#pending;
    if (tenantId === undefined) return;
    const readModels = this.#readModels;
    for (const collection of owned) {
      const keys = await this.#keysOf(collection, tenantId);
      if (keys.length === 0) continue;
      await readModels.amend(keys.map((key) => remove(collection, key)));
      return;
    }
    await readModels.removeCounters(tenantId);
    await readModels.amend([remove(tenants, tenantId), remove(erasures, tenantId)]);
    this.#pending = others;
  }

  async #keysOf({ name: collection, key }: CollectionDefinition, tenantId: string): Promise<readonly string[]> {
    const order = { field: key, descending: false };
    const found = await this.#readModels.find({ collection, where: { tenantId }, order, limit: slice });
    return found.map((document) => document[key] as string);
  }
}

/**
 * Leaves out entries that an erasure deleted: some engines still return them until a scavenge. It checks the entries of
 * the first call's log; the erasure's fact removes later documents.
 */
export class ErasedTenants {
  readonly #log: Pick<EventStore, "head" | "readStream">;
  readonly #erased = new LRUCache<string, boolean>({ max: keptInMemory });
  #headAtFirst: Position | undefined;

  constructor(log: Pick<EventStore, "head" | "readStream">) {
    this.#log = log;
  }

  /** Call it in the order of the log. Rejects with LogUnavailable. */
  async without(entries: readonly LogEntry[]): Promise<readonly LogEntry[]> {
    this.#headAtFirst ??= await this.#log.head();
    const [first] = entries;
    if (!first || first.position > this.#headAtFirst) return entries;
    const [erased, deleted] = await Promise.all([
      whereTrue(entries.map(ownerOf), async (tenantId) => tenantId !== undefined && this.#isErased(tenantId)),
      whereTrue(entries.filter(({ unreadable }) => unreadable !== undefined), (entry) => this.#isDeleted(entry)),
    ]);
    if (erased.size === 0 && deleted.size === 0) return entries;
    return entries.filter((entry) =>
      entry.type === "TenantErased" || (!erased.has(ownerOf(entry)) && !deleted.has(entry)));
  }

  async #isErased(tenantId: string): Promise<boolean> {
    const known = this.#erased.get(tenantId);
    if (known !== undefined) return known;
    const [first] = await this.#log.readStream(streams.tenant(tenantId), { limit: 1 });
    const erased = first?.type === "TenantErased";
    this.#erased.set(tenantId, erased);
    return erased;
  }

  /** An unreadable entry has no known tenant, but its stream tells if it is still there. */
  async #isDeleted({ stream, revision }: LogEntry): Promise<boolean> {
    const [there] = await this.#log.readStream(stream, { from: revision, limit: 1 });
    return there?.revision !== revision;
  }
}

function ownerOf(entry: LogEntry): string | undefined {
  return entry.unreadable === undefined ? tenantOf(entry) : undefined;
}

async function whereTrue<One>(
  all: Iterable<One>, isTrue: (one: One) => Promise<boolean>,
): Promise<ReadonlySet<One>> {
  const found = new Set<One>();
  await Promise.all([...new Set(all)].map(async (one) => {
    if (await isTrue(one)) found.add(one);
  }));
  return found;
}
