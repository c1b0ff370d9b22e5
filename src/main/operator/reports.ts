import { existsSync } from "node:fs";
import { StoredReadModels } from "../../../packages/embedded-engine/src/index.ts";
import { destinations } from "../../../projections/destinations/destinations.ts";
import { eventsCounter } from "../../../projections/events/counters.ts";
import { tenants } from "../../../projections/tenants/tenants.ts";
import { usersCounter } from "../../../projections/users/users.ts";
import { AesSealing } from "../../engines/aes-sealing/aes-sealing.ts";
import { SystemClock } from "../../engines/system/system-clock.ts";
import { keyInventory, type MasterKeyUse } from "../../features/key-rotation/key-rotation.ts";
import { inFile } from "../../kernel/files.ts";
import { tenantCounter, type ReadModelQuestions } from "../../kernel/ports/read-models.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import type { Config } from "../config/config.ts";
import { namingVariable } from "../config/variables.ts";
import { readModelsPath } from "../engines/files.ts";
import { openMongoDb } from "../engines/mongodb.ts";
import { masterKeyOf } from "../master-key.ts";
import type { RelaySettings } from "../relay.ts";

/** The tenant's name and the numbers of its users, destinations and events. Rejects if the tenant does not exist. */
export function describeErasure({ config, logger }: RelaySettings, tenantId: string): Promise<string> {
  return withReadModels(config, logger, async (readModels) => {
    const tenant = await documentOf(readModels, tenants, tenantId);
    if (!tenant) throw new Error(`there is no tenant ${tenantId}`);
    const counters = [
      ["user", usersCounter({ tenantId })],
      ["destination", tenantCounter(destinations, tenantId)],
      ["event", eventsCounter({ tenantId }, "all"), eventsCounter({ tenantId, test: true }, "all")],
    ] as const;
    const going = await Promise.all(counters.map(async ([thing, ...scopes]) => {
      const counts = await Promise.all(scopes.map((scope) => readModels.sum(scope)));
      return counted(counts.reduce((sum, count) => sum + count, 0), thing);
    }));
    return `tenant ${tenantId} ${JSON.stringify(tenant.name)}: ${going.join(", ")} and all else of it`;
  });
}

/** A line for each master key, and one with the number of removable ones. Rejects if a needed key is missing. */
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

/** `1 stream`, `2 streams`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/** Runs a task on the read models, also beside a relay. An error names the variable at fault. */
export async function withReadModels<Result>(
  { dataDir, readModels }: Pick<Config, "dataDir" | "readModels">,
  logger: Logger,
  task: (readModels: ReadModelQuestions) => Promise<Result>,
): Promise<Result> {
  const stored = await open(dataDir, readModels, logger);
  try {
    return await task(stored.readModels);
  } finally {
    await stored.close();
  }
}

/** A process without the newest key may still wrap under an old key that the log no longer needs. */
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

async function open(dataDir: string, chosen: Config["readModels"], logger: Logger) {
  if (chosen.engine === "mongodb") {
    const { MongoReadModels } = await import("../../engines/mongodb/read-models.ts");
    const connection = await openMongoDb(chosen.url, { clock: new SystemClock(), logger });
    return { readModels: new MongoReadModels(connection), close: () => connection.close() };
  }
  const readModels = await namingVariable("RELAY_DATA_DIR", () => openFile(readModelsPath(dataDir)));
  return { readModels, close: async () => readModels.close() };
}

function openFile(file: string): StoredReadModels {
  if (!existsSync(file)) throw new Error(`${file} is not there: start the relay once`);
  return inFile(file, () => StoredReadModels.open(file));
}
