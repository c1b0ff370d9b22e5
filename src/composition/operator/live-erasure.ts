import { JwtTokens } from "../../adapters/jose/jwt-tokens.ts";
import { Erasure } from "../../application/accounts/erasure.ts";
import { LiveErasure } from "../../application/accounts/live-erasure.ts";
import { Reservations } from "../../application/accounts/reservations.ts";
import { Sessions } from "../../application/accounts/sessions.ts";
import { PurgeCommands } from "../../application/commands/purge.ts";
import { ShownEvents } from "../../application/events/shown-events.ts";
import { Freshness } from "../../application/freshness.ts";
import { PlatformKeys } from "../../application/keys/platform-keys.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import type { AccountParts } from "./operations.ts";

/** The erasure of a tenant while relays run. */
export function liveErasure(
  parts: Omit<AccountParts, "passwords"> & { readonly readModels: ReadModels },
): LiveErasure {
  const { store, readModels, clock, accessTokenTtlMs } = parts;
  const own = { ...parts, freshness: new Freshness(store, readModels, clock), keys: new PlatformKeys(parts) };
  const sessions = new Sessions({ ...own, tokens: new JwtTokens() }, { ttlMs: accessTokenTtlMs });
  const purge = new PurgeCommands({ ...own, shown: new ShownEvents(own) });
  const reservations = new Reservations(parts);
  return new LiveErasure({ ...own, sessions, purge }, (forget) => new Erasure({ ...parts, reservations }, forget));
}
