import type { Aggregates } from "../application/aggregates.ts";
import type { Freshness } from "../application/freshness.ts";
import { Directory, type Following } from "../application/ingest/directory.ts";
import type { Instruments } from "../ports/telemetry.ts";
import { Follower, type Reach } from "../workers/follower.ts";
import type { Engines } from "./engines/engines.ts";

interface FollowParts extends Instruments {
  readonly aggregates: Aggregates;
  readonly freshness: Freshness;
}

/** What is kept up with the log, and whether it is. */
export interface FollowedLog {
  readonly directory: Directory;
  readonly following: Following;
  readonly reach: Reach;
  stop(): Promise<void>;
}

/**
 * Follows the log for what this process remembers of it: aggregates, and a directory of `max` entries of each kind.
 * Rejects with LogUnavailable.
 */
export async function followLog(
  { store, readModels, shared }: Pick<Engines, "store" | "readModels" | "shared">,
  { aggregates, freshness, clock, logger, metrics }: FollowParts,
  { max }: { readonly max: number },
): Promise<FollowedLog> {
  const follower = new Follower({
    log: store, clock, logger, metrics, categories: aggregates.categories,
    handle: (entries) => {
      aggregates.follow(entries);
      directory.follow(entries);
    },
  });
  // With all engines embedded, nobody else changes anything.
  const following = shared.log ? follower : { fresh: true, renewed: async () => true };
  const directory = new Directory({ store, aggregates, readModels, freshness, clock, following }, { max });
  await follower.start();
  return { directory, following, reach: follower, stop: () => follower.stop() };
}
