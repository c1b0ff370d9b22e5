import { SystemClock } from "../adapters/system/system-clock.ts";
import { openEmbeddedEngines } from "./embedded/engines.ts";
import { masterKeyOf } from "./master-key.ts";
import type { RelaySettings } from "./relay.ts";

/** Drops the read models and builds them from the log, in a data folder no relay is using. */
export async function rebuildReadModels(
  { config, secrets, logger }: RelaySettings,
): Promise<{ readonly seconds: number }> {
  const clock = new SystemClock();
  const startedAt = clock.monotonic();
  const { dataDir } = config;
  const { oldMasterKeys } = secrets;
  const fail = (error: Error) => {
    throw error;
  };
  const metrics = { trouble: (of: string) => logger.warn({ of }, "trouble while rebuilding") };
  const engines = await openEmbeddedEngines({
    dataDir, oldMasterKeys, clock, logger, metrics, masterKey: masterKeyOf(config, secrets, logger), onFatal: fail,
  });
  await engines.readSide.rebuild();
  await engines.close();
  return { seconds: (clock.monotonic() - startedAt) / 1000 };
}
