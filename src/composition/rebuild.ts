import { SystemClock } from "../adapters/system/system-clock.ts";
import { atDesk } from "./operator.ts";
import type { RelaySettings } from "./relay.ts";

/** Drops the read models and builds them from the log, in a data folder no relay is using. */
export async function rebuildReadModels(settings: RelaySettings): Promise<{ readonly seconds: number }> {
  const clock = new SystemClock();
  const startedAt = clock.monotonic();
  await atDesk(settings, ({ readSide }) => readSide.rebuild());
  return { seconds: (clock.monotonic() - startedAt) / 1000 };
}
