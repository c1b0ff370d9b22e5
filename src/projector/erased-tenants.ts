import { LRUCache } from "lru-cache";
import { tenantOf } from "../kernel/domain/domain-event.ts";
import { streams } from "../kernel/domain/streams.ts";
import type { EventStore, LogEntry, Position } from "../kernel/ports/event-store.ts";

/** How many tenants' answers are remembered. */
const keptInMemory = 50_000;

/**
 * Leaves out the entries that an erasure deleted: some engines still give deleted entries until they clear up. Only
 * entries that the log holds at the first call are looked at: documents of later ones are removed with the tenant's
 * other documents, at the fact that stays of the erasure.
 */
export class ErasedTenants {
  readonly #log: Pick<EventStore, "head" | "readStream">;
  readonly #erased = new LRUCache<string, boolean>({ max: keptInMemory });
  #headAtFirst: Position | undefined;

  constructor(log: Pick<EventStore, "head" | "readStream">) {
    this.#log = log;
  }

  /** The entries without those that an erasure deleted. Call it in the order of the log. Throws LogUnavailable. */
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

  /** An unreadable entry does not tell its tenant, but its stream tells whether the entry is still there. */
  async #isDeleted({ stream, revision }: LogEntry): Promise<boolean> {
    const [there] = await this.#log.readStream(stream, { from: revision, limit: 1 });
    return there?.revision !== revision;
  }
}

/** An unreadable entry does not tell. */
function ownerOf(entry: LogEntry): string | undefined {
  return entry.unreadable === undefined ? tenantOf(entry) : undefined;
}

/** The elements for which it is true. Asks once about each. */
async function whereTrue<One>(
  all: Iterable<One>, isTrue: (one: One) => Promise<boolean>,
): Promise<ReadonlySet<One>> {
  const found = new Set<One>();
  await Promise.all([...new Set(all)].map(async (one) => {
    if (await isTrue(one)) found.add(one);
  }));
  return found;
}
