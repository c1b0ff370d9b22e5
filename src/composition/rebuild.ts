import { SystemClock } from "../adapters/system/system-clock.ts";
import { atDesk, undisturbed } from "./operator.ts";
import type { RelaySettings } from "./relay.ts";

/** Drops the read models and builds them from the log, while no relay projects. */
export async function rebuildReadModels(settings: RelaySettings): Promise<{ readonly seconds: number }> {
  const clock = new SystemClock();
  const startedAt = clock.monotonic();
  await atDesk(settings, (desk) => undisturbed(desk, () => desk.projector.rebuild()));
  return { seconds: (clock.monotonic() - startedAt) / 1000 };
}
