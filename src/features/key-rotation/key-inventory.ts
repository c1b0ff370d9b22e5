import { tokenKeyName, wrappedKeys } from "../../../projections/wrapped-keys/wrapped-keys.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import type { Sealing } from "../../kernel/ports/sealing.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";

/** How a master key is used. */
export interface MasterKeyUse {
  readonly masterKeyId: string;
  /** How many keys it wraps. */
  readonly wraps: number;
  /** Whether a start without it would be refused. */
  readonly needed: boolean;
}

/** The most master keys queried: more than any installation has. */
const most = 1_000;
const collection = wrappedKeys.name;

/** Every master key that is at hand, needed, or wraps something, as far as the log was projected; the newest first. */
export async function keyInventory(
  readModels: Pick<ReadModels, "get" | "count" | "distinct">,
  { masterKeyIds }: Pick<Sealing, "masterKeyIds">,
): Promise<readonly MasterKeyUse[]> {
  const inUse = await wrappingKeys(readModels);
  const platform = await documentOf(readModels, wrappedKeys, tokenKeyName);
  const needed = platform ? platform.masterKeys ?? [platform.masterKeyId] : [];
  const all = new Set([...masterKeyIds, ...needed, ...inUse]);
  return Promise.all([...all].map(async (masterKeyId) => ({
    masterKeyId,
    wraps: await wrappedBy(readModels, masterKeyId),
    needed: needed.includes(masterKeyId),
  })));
}

/** How many keys other master keys than the newest wrap. Its own, one for each tenant, are not looked at. */
export async function keysUnderOldMasterKeys(
  readModels: Pick<ReadModels, "count" | "distinct">,
  { masterKeyIds: [newest] }: Pick<Sealing, "masterKeyIds">,
): Promise<number> {
  const old = (await wrappingKeys(readModels)).filter((id) => id !== newest);
  const counts = await Promise.all(old.map((id) => wrappedBy(readModels, id)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The ids of all master keys that wrap anything, as far as the log was projected. */
export async function wrappingKeys(readModels: Pick<ReadModels, "distinct">): Promise<readonly string[]> {
  return await readModels.distinct({ collection }, "masterKeyId", { limit: most }) as readonly string[];
}

function wrappedBy(readModels: Pick<ReadModels, "count">, masterKeyId: string): Promise<number> {
  return readModels.count({ collection, where: { masterKeyId } });
}
