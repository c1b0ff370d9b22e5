import { AesSealing } from "../../engines/aes-sealing/aes-sealing.ts";
import { keyInventory, type MasterKeyUse } from "../../features/key-rotation/key-inventory.ts";
import { masterKeyOf } from "../master-key.ts";
import type { RelaySettings } from "../relay.ts";
import { withReadModels } from "./stored-read-models.ts";

/**
 * A line for each master key (how many keys it wraps, whether it is needed), and a last one with the number of
 * removable ones; a relay may be running. Rejects as {@link withReadModels} does, and where a needed key is missing:
 * the answer would be incomplete.
 */
export async function describeKeys({ config, secrets, logger }: RelaySettings): Promise<readonly string[]> {
  const sealing = new AesSealing(await masterKeyOf(config, secrets), secrets.oldMasterKeys);
  const inventory = await withReadModels(config, logger, (readModels) => keyInventory(readModels, sealing));
  const [newest, ...old] = sealing.masterKeyIds;
  requireNeeded(inventory, sealing.masterKeyIds);
  const lines = inventory.map((use) => {
    const { masterKeyId: id, wraps } = use;
    const place = id === newest ? "newest" : old.includes(id) ? "old" : "not at hand";
    return `${id}  ${place.padEnd(11)}  wraps ${wraps}  ${isInUse(use) ? "needed" : "needed by nothing"}`;
  });
  const goers = inventory.filter((use) => old.includes(use.masterKeyId) && !isInUse(use)).length;
  const verdict = old.length === 0
    ? "there is no old master key"
    : `${goers} of ${old.length} old master keys may be taken out of RELAY_OLD_MASTER_KEYS`;
  return [...lines, verdict];
}

/**
 * True for a key that wraps others although the log no longer needs it: a process that did not have the newest key yet
 * may have wrapped a key under this one since.
 */
function isInUse({ wraps, needed }: MasterKeyUse): boolean {
  return needed || wraps > 0;
}

function requireNeeded(inventory: readonly MasterKeyUse[], atHand: readonly string[]): void {
  const missing = inventory.filter(({ masterKeyId, needed }) => needed && !atHand.includes(masterKeyId));
  if (missing.length === 0) return;
  const newestIsIts = inventory.some(({ masterKeyId, needed }) => needed && masterKeyId === atHand[0]);
  const variable = newestIsIts ? "RELAY_OLD_MASTER_KEYS" : "RELAY_MASTER_KEY";
  const ids = missing.map(({ masterKeyId }) => masterKeyId).join(", ");
  throw new Error(`${variable}: lacks ${ids}, which this log needs: give this command the relay's own environment`);
}
