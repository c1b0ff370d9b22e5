import { CredentialLookup, type Following } from "../features/ingest/credential-lookup.ts";
import type { Aggregates } from "../kernel/log/aggregates.ts";
import type { Instruments } from "../kernel/ports/telemetry.ts";
import type { Freshness } from "../kernel/read-models/freshness.ts";
import { LogTail, type Reach } from "../kernel/workers/log-tail.ts";
import type { Engines } from "./engines/engines.ts";

interface FollowParts extends Instruments {
  readonly aggregates: Aggregates;
  readonly freshness: Freshness;
}

/** The state that follows the log, and whether it is up to date. */
export interface FollowedLog {
  readonly credentials: CredentialLookup;
  readonly following: Following & Pick<LogTail, "isFollowed">;
  readonly reach: Reach;
  stop(): Promise<void>;
}

/**
 * Follows the log for the state that this process caches: aggregates, and a credential lookup with `max` entries of
 * each kind. Rejects with LogUnavailable.
 */
export async function followLog(
  { store, logTail: log, readModels, shared }: Pick<Engines, "store" | "logTail" | "readModels" | "shared">,
  { aggregates, freshness, clock, logger, metrics }: FollowParts,
  { max }: { readonly max: number },
): Promise<FollowedLog> {
  const logTail = new LogTail({
    log, clock, logger, metrics, categories: aggregates.categories,
    handle: (entries) => {
      aggregates.follow(entries);
      credentials.follow(entries);
    },
  });
  // No other process writes to an embedded log.
  const following = shared.log ? logTail : { fresh: true, isFollowed: true, renewed: async () => true };
  const credentials = new CredentialLookup({ store, aggregates, readModels, freshness, clock, following }, { max });
  await logTail.start();
  return { credentials, following, reach: logTail, stop: () => logTail.stop() };
}
