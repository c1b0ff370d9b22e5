import type { Aggregates } from "../application/aggregates.ts";
import type { Freshness } from "../application/freshness.ts";
import { CredentialLookup, type Following } from "../application/ingest/credential-lookup.ts";
import type { Instruments } from "../ports/telemetry.ts";
import { LogTail, type Reach } from "../workers/log-tail.ts";
import type { Engines } from "./engines/engines.ts";

interface FollowParts extends Instruments {
  readonly aggregates: Aggregates;
  readonly freshness: Freshness;
}

/** What is kept up with the log, and whether it is. */
export interface FollowedLog {
  readonly credentials: CredentialLookup;
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
  const logTail = new LogTail({
    log: store, clock, logger, metrics, categories: aggregates.categories,
    handle: (entries) => {
      aggregates.follow(entries);
      credentials.follow(entries);
    },
  });
  // With all engines embedded, nobody else changes anything.
  const following = shared.log ? logTail : { fresh: true, renewed: async () => true };
  const credentials = new CredentialLookup({ store, aggregates, readModels, freshness, clock, following }, { max });
  await logTail.start();
  return { credentials, following, reach: logTail, stop: () => logTail.stop() };
}
