import { refuse } from "../../domain/refusal.ts";
import { decide } from "../../domain/tenant/decide.ts";
import type { Clock } from "../../ports/clock/clock.ts";
import { timestampNow } from "../../ports/clock/timestamp-now.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Passwords } from "../../ports/passwords.ts";
import { tenantOwner } from "../accounts/password-owners.ts";
import type { Reservations } from "../accounts/reservations.ts";
import type { Sessions } from "../accounts/sessions.ts";
import { userByEmail } from "../accounts/user-by-email.ts";
import { tenants } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import { checkPassword } from "../input-rules.ts";
import type { PlatformKeys } from "../keys/platform-keys.ts";
import { serviceOrigin } from "../origin.ts";

interface OwnerPasswordParts {
  readonly aggregates: Aggregates;
  readonly reservations: Reservations;
  readonly keys: PlatformKeys;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Sets an Owner's password for an operator, and ends the Owner's sessions. Throws a Refusal (invalid, not-found,
 * rejected).
 */
export async function resetOwnerPassword(parts: OwnerPasswordParts, email: string, password: string): Promise<void> {
  checkPassword("password", password);
  const { aggregates, keys, passwords, sessions, clock, ids } = parts;
  const found = await userByEmail(parts, await keys.emailHash(email));
  const { tenant: { id: tenantId }, user } = found ?? refuse("not-found", "no user has this email");
  const passwordHash = await passwords.hash(password, tenantOwner(tenantId));
  const at = timestampNow(clock);
  await aggregates.change(tenants, tenantId, serviceOrigin("operator", ids), (state) =>
    decide(state, { type: "ResetOwnerPassword", userId: user.id, passwordHash, at }));
  await sessions.endOlder(tenantId, user.id);
}
