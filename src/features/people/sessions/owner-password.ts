import { checkPassword } from "../../../kernel/callers/input-rules.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import type { Aggregates } from "../../../kernel/log/aggregates.ts";
import { serviceOrigin } from "../../../kernel/log/origin.ts";
import { type Clock, timestampNow } from "../../../kernel/ports/clock.ts";
import type { Ids } from "../../../kernel/ports/ids.ts";
import { type Passwords, tenantOwner } from "../../../kernel/ports/passwords.ts";
import type { PlatformKeys } from "../../../kernel/sealing/platform-keys.ts";
import { decide } from "../../tenants/decide.ts";
import { tenants } from "../../tenants/facts.ts";
import type { Reservations } from "../../tenants/reservations/reservations.ts";
import { userByEmail } from "./login.ts";
import type { Sessions } from "./sessions.ts";

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
