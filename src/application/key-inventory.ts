import { tokenKeyName, wrappedKeys } from "../../projections/wrapped-keys/wrapped-keys.ts";
import type { ReadModels } from "../ports/read-models.ts";
import type { Sealing } from "../ports/sealing.ts";

/** How a master key is used. */
export interface MasterKeyUse {
  readonly masterKeyId: string;
  /** How many keys it wraps. */
  readonly wraps: number;
  /** Whether a start without it would be refused. */
  readonly needed: boolean;
}

const most = 1_000;

/** Every master key that is at hand, needed, or wraps something, as far as the log was projected; the newest first. */
export async function keyInventory(
  readModels: Pick<ReadModels, "get" | "count" | "distinct">,
  { masterKeyIds }: Pick<Sealing, "masterKeyIds">,
): Promise<readonly MasterKeyUse[]> {
  const collection = wrappedKeys.name;
  const inUse = await readModels.distinct({ collection }, "masterKeyId", { limit: most });
  const platform = await readModels.get(collection, tokenKeyName);
  const needed = (platform?.["masterKeys"] ?? [platform?.["masterKeyId"]]) as readonly string[];
  const all = new Set([...masterKeyIds, ...(platform ? needed : []), ...(inUse as readonly string[])]);
  return Promise.all([...all].map(async (masterKeyId) => ({
    masterKeyId,
    wraps: await readModels.count({ collection, where: { masterKeyId } }),
    needed: needed.includes(masterKeyId),
  })));
}
