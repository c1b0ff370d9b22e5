import { leases } from "../../projections/due/due.ts";
import { type Clock, sleep } from "../kernel/ports/clock.ts";
import { ReadModelsUnavailable, type ReadModels } from "../kernel/ports/read-models.ts";
import type { Logger } from "../kernel/ports/telemetry.ts";

const lookEveryMs = 50;
const patienceMs = 30_000;

/**
 * New engines refuse queries until a projector has made the collections. Resolves once it has, or after half a minute:
 * later queries then fail with the reason.
 */
export async function readModelsBuilt(
  { readModels, clock, logger }: { readonly readModels: ReadModels; readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  const end = clock.monotonic() + patienceMs;
  for (let waits = false; clock.monotonic() < end; await sleep(clock, lookEveryMs)) {
    try {
      await readModels.find({ collection: leases.name, order: { field: leases.key, descending: false }, limit: 1 });
      return;
    } catch (error) {
      if (!(error instanceof ReadModelsUnavailable)) throw error;
      if (!waits) logger.info({}, "waiting until a projector has made the read models");
      waits = true;
    }
  }
}
