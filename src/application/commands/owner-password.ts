import { refuse } from "../../domain/refusal.ts";
import { comparableEmail } from "../../domain/reservation/reservation.ts";
import { streams } from "../../domain/streams.ts";
import { decide } from "../../domain/tenant/decide.ts";
import { timestamp } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Passwords } from "../../ports/passwords.ts";
import { tenants } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import { keyedHash } from "../hashing.ts";
import type { PlatformKeys } from "../platform-keys.ts";
import type { Reservations } from "../reservations.ts";
import type { Sessions } from "../sessions.ts";
import { checkPassword } from "./input-rules.ts";

/** What the command works with. */
export interface OwnerPasswordParts {
  readonly aggregates: Aggregates;
  readonly reservations: Reservations;
  readonly keys: PlatformKeys;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Gives an Owner another password, on an operator's word, and ends the Owner's sessions. Throws a Refusal (invalid,
 * not-found, rejected).
 */
export async function resetOwnerPassword(parts: OwnerPasswordParts, email: string, password: string): Promise<void> {
  checkPassword("password", password);
  const { aggregates, reservations, keys, passwords, sessions, clock, ids } = parts;
  const emailHash = keyedHash((await keys.get()).nameHashKey, comparableEmail(email));
  const holder = (await reservations.find(streams.email(emailHash)))?.holder;
  const unknown = () => refuse("not-found", "no user has this email");
  const { tenantId, userId } = holder ?? unknown();
  const { state: tenant } = await aggregates.current(tenants, tenantId);
  const user = tenant?.users.get(userId ?? "");
  if (user?.emailHash !== emailHash) return unknown();
  const passwordHash = await passwords.hash(password);
  const at = timestamp(clock.now());
  const actor = { type: "service", part: "operator" } as const;
  const origin = { actor, correlationId: ids.uuid(), causationId: null };
  await aggregates.change(tenants, tenantId, origin, (state) =>
    decide(state, { type: "ResetOwnerPassword", userId: user.id, passwordHash, at }));
  await sessions.endOlder(tenantId, user.id);
}
