import type { Inputs } from "../../../../schemas/api.ts";
import type { Caller } from "../../../kernel/callers/caller.ts";
import { checkEmail, checkPassword } from "../../../kernel/callers/input-rules.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { rolesByCode } from "../../../kernel/domain/roles.ts";
import { streams } from "../../../kernel/domain/streams.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { type Origin, serviceOrigin } from "../../../kernel/log/origin.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import { tenantOwner } from "../../../kernel/ports/passwords.ts";
import type { PlatformKeys } from "../../../kernel/sealing/platform-keys.ts";
import { decide, type TenantCommand } from "../../tenants/decide.ts";
import { ownTenant, tenants, statusesByCode, type Tenant, type User } from "../../tenants/facts.ts";
import type { Reservations } from "../../tenants/reservations/reservations.ts";
import type { Forgetting } from "../persons/forgetting.ts";
import type { People } from "../persons/people.ts";
import { userByEmail } from "../sessions/login.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { userView, type UserView, type UserQueries } from "./queries.ts";

type ChangeUser = Extract<TenantCommand, { type: "ChangeUser" }>;

export const emailTaken = "email: a user with this email exists already";
const emailOvertaken = "email: was changed by another request";

/** Commands on users. */
export class UserCommands {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "aggregates" | "passwords" | "freshness" | "clock" | "ids">
      & {
        readonly reservations: Reservations; readonly people: People; readonly keys: PlatformKeys;
        readonly sessions: Sessions; readonly users: UserQueries; readonly forgetting: Forgetting;
      },
  ) {
    this.#parts = parts;
  }

  /** Creates a user in the caller's tenant. Throws a Refusal (invalid, not-found, forbidden, conflict). */
  async create(caller: Caller, input: Inputs["createUser"], origin: Origin): Promise<UserView> {
    checkEmail("email", input.email);
    checkPassword("password", input.password);
    const role = rolesByCode[input.role];
    const { aggregates, reservations, people, keys, passwords, ids, clock } = this.#parts;
    const { tenantId } = caller;
    const tenant = await ownTenant(aggregates, caller);
    const userId = ids.uuid();
    const emailHash = await keys.emailHash(input.email);
    const command = (email: string, passwordHash: string, reservation?: string): TenantCommand => ({
      type: "CreateUser",
      by: caller,
      user: { userId, email, emailHash, passwordHash, role },
      reservation,
      at: timestampNow(clock),
    });
    // Permission comes before any work, and before anything that would reveal other tenants.
    decide(tenant, command("", ""));
    const passwordHash = await passwords.hash(input.password, tenantOwner(tenantId));
    const claim = { stream: streams.email(emailHash), holder: { tenantId, userId }, taken: emailTaken };
    await reservations.during([claim], origin, async ([reservation]) => {
      await people.create(tenant, userId, origin);
      const email = await people.seal(tenant, userId, input.email);
      await aggregates.change(tenants, tenantId, origin, (state) =>
        decide(state, command(email, passwordHash, reservation)));
    });
    return this.#view(tenantId, userId);
  }

  async change(caller: Caller, userId: string, input: Inputs["updateUser"], origin: Origin): Promise<UserView> {
    if (input.email !== undefined) checkEmail("email", input.email);
    if (input.password !== undefined) checkPassword("password", input.password);
    const { aggregates, reservations, sessions, clock } = this.#parts;
    const { tenantId } = caller;
    const { tenant, user } = await this.#target(caller, userId);
    const role = input.role === undefined ? undefined : rolesByCode[input.role];
    const status = input.status === undefined ? undefined : statusesByCode[input.status];
    const command = (also: Pick<ChangeUser, "passwordHash" | "email" | "reservation"> = {}): ChangeUser => ({
      type: "ChangeUser", by: caller, userId, role, status, ...also, at: timestampNow(clock),
    });
    decide(tenant, command());
    const passwordHash = await this.#newPasswordHash(tenant, user, input.password);
    const email = await this.#newEmail(tenant, user, input.email);
    const change = async (reservation?: string) =>
      aggregates.change(tenants, tenantId, origin, (state) => {
        const current = state?.users.get(userId);
        if (email && current?.emailHash !== user.emailHash) refuse("conflict", emailOvertaken);
        return decide(state, command({ passwordHash, email, reservation }));
      });
    if (!email || email.hash === user.emailHash) await change();
    else {
      const holder = { tenantId, userId };
      const claim = { stream: streams.email(email.hash), holder, taken: emailTaken, overtaken: emailOvertaken };
      await reservations.exchange(streams.email(user.emailHash), claim, origin, change);
    }
    const { state } = await aggregates.read(tenants, tenantId);
    if (state?.users.get(userId)?.sessionVersion !== user.sessionVersion) await sessions.endOlder(tenantId, userId);
    return this.#view(tenantId, userId);
  }

  /** Deletes a user for good: its email is free again and can be read nowhere any more. Throws a Refusal. */
  async remove(caller: Caller, userId: string, origin: Origin): Promise<void> {
    const { aggregates, reservations, forgetting, freshness, sessions, clock } = this.#parts;
    const { tenant, user } = await this.#target(caller, userId);
    const command = (): TenantCommand => ({ type: "DeleteUser", by: caller, userId, at: timestampNow(clock) });
    decide(tenant, command());
    // Forgetting needs the read models and the invites: while it cannot read them, nothing is deleted.
    await freshness.wait();
    await forgetting.requireInvites();
    const reservation = await reservations.find(streams.email(user.emailHash));
    const { events } = await aggregates.change(tenants, caller.tenantId, origin, (state) => {
      const current = state?.users.get(userId);
      return current && current.emailHash !== user.emailHash ? [] : decide(state, command());
    });
    // The user has another email by now: the reservation of that email is to be released.
    if (events.length === 0) return this.remove(caller, userId, origin);
    await sessions.endOlder(caller.tenantId, userId);
    if (reservation?.holder.userId === userId) await reservations.release(reservation, origin);
    await forgetting.forget({ tenantId: caller.tenantId, userId }, origin);
  }

  async #target(caller: Caller, userId: string): Promise<{ readonly tenant: Tenant; readonly user: User }> {
    const tenant = await ownTenant(this.#parts.aggregates, caller);
    const user = tenant.users.get(userId) ?? (await this.#parts.users.refuseUnknown(userId));
    return { tenant, user };
  }

  /** Undefined when the password is unchanged: setting the same one ends no session. */
  async #newPasswordHash(tenant: Tenant, user: User, password: string | undefined): Promise<string | undefined> {
    const { passwords } = this.#parts;
    const owner = tenantOwner(tenant.id);
    if (password === undefined || (await passwords.matches(password, user.passwordHash, owner))) return undefined;
    return passwords.hash(password, owner);
  }

  /** Undefined when the email is unchanged, spelling included. */
  async #newEmail(
    tenant: Tenant,
    user: User,
    email: string | undefined,
  ): Promise<{ readonly sealed: string; readonly hash: string } | undefined> {
    const { people, keys } = this.#parts;
    if (email === undefined || email === (await people.open(tenant, user.id, user.email))) return undefined;
    return { sealed: await people.seal(tenant, user.id, email), hash: await keys.emailHash(email) };
  }

  async #view(tenantId: string, userId: string): Promise<UserView> {
    const { aggregates, people } = this.#parts;
    const { state: tenant } = await aggregates.read(tenants, tenantId);
    const user = tenant?.users.get(userId);
    if (!tenant || !user) refuse("not-found", "user not found");
    return userView(tenantId, user, await people.open(tenant, userId, user.email));
  }
}

/** Sets an Owner's password for an operator, and ends the Owner's sessions. Throws a Refusal. */
export async function resetOwnerPassword(
  parts: Pick<KernelParts, "aggregates" | "passwords" | "clock" | "ids">
    & { readonly reservations: Reservations; readonly keys: PlatformKeys; readonly sessions: Sessions },
  email: string, password: string,
): Promise<void> {
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
