import { erasures } from "../../projections/erasures/erasures.ts";
import { collections } from "../../projections/index.ts";
import { remove } from "../../projections/projection.ts";
import { tenants } from "../../projections/tenants/tenants.ts";
import type { CollectionDefinition, ReadModels, ReadModelWriter } from "../kernel/ports/read-models.ts";
import { everyDocument } from "../kernel/read-models/scans.ts";

/** Documents removed at once: batches wait no longer than that takes. */
const slice = 500;

interface ErasuresParts {
  readonly readModels: Pick<ReadModels, "find"> & Pick<ReadModelWriter, "amend" | "removeCounters">;
}

/** The collections of documents that name their tenant. */
const owned = collections.filter(({ name, fields }) => "tenantId" in fields && name !== erasures.name);

/**
 * Removes erased tenants from the read models, in slices between batches. Their streams are deleted before: nothing of
 * them comes after.
 */
export class Erasures {
  readonly #parts: ErasuresParts;
  #pending: readonly string[] = [];

  constructor(parts: ErasuresParts) {
    this.#parts = parts;
  }

  /** Reads which tenants are left to remove. Call before the first {@link step}, and after a fact of an erasure. */
  async load(): Promise<void> {
    this.#pending = (await everyDocument(this.#parts.readModels, erasures)).map(({ tenantId }) => tenantId);
  }

  /** Whether {@link step} has anything to do. */
  get pending(): boolean {
    return this.#pending.length > 0;
  }

  /** Does a small part of the work. When it throws, it may be called again. */
  async step(): Promise<void> {
    const [tenantId, ...others] = this.#pending;
    if (tenantId === undefined) return;
    const { readModels } = this.#parts;
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
    const found = await this.#parts.readModels.find({ collection, where: { tenantId }, order, limit: slice });
    return found.map((document) => document[key] as string);
  }
}
