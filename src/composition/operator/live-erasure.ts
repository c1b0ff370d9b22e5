import { Erasure } from "../../application/accounts/erasure.ts";
import { LiveErasure } from "../../application/accounts/live-erasure.ts";
import { PurgeCommands } from "../../application/commands/purge.ts";
import { ShownEvents } from "../../application/events/shown-events.ts";
import type { Freshness } from "../../application/freshness.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { withAccountServices, type AccountParts } from "./operations.ts";

/** The erasure of a tenant while relays run. */
export function liveErasure(
  parts: Omit<AccountParts, "passwords"> & { readonly readModels: ReadModels; readonly freshness: Freshness },
): LiveErasure {
  const own = withAccountServices(parts);
  const purge = new PurgeCommands({ ...own, shown: new ShownEvents(own) });
  return new LiveErasure({ ...own, purge }, (forget) => new Erasure(own, forget));
}
