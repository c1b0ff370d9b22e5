import { inviteHashes } from "../../../../projections/invites/invites.ts";
import type { Inputs } from "../../../../schemas/api.ts";
import { requireOwn } from "../../../kernel/callers/access.ts";
import type { Caller } from "../../../kernel/callers/caller.ts";
import { checkEmail, checkPassword } from "../../../kernel/callers/input-rules.ts";
import { clientNetwork } from "../../../kernel/domain/ipv6.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { rolesByCode } from "../../../kernel/domain/roles.ts";
import { streams } from "../../../kernel/domain/streams.ts";
import { millis, timestamp } from "../../../kernel/domain/time.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { readPages } from "../../../kernel/log/long-reads.ts";
import type { Origin } from "../../../kernel/log/origin.ts";
import { refuseUnreadable } from "../../../kernel/log/unreadable.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import type { RecordedEvent } from "../../../kernel/ports/event-store.ts";
import type { RateLimit } from "../../../kernel/ports/expiring-state.ts";
import { addressOwner } from "../../../kernel/ports/passwords.ts";
import { documentOf } from "../../../kernel/read-models/scans.ts";
import type { PlatformKeys } from "../../../kernel/sealing/platform-keys.ts";
import { secretToken, sha256 } from "../../../kernel/tools/hashing.ts";
import { decide as decideTenant } from "../../tenants/decide.ts";
import { ownTenant, tenants, type UserEvent } from "../../tenants/facts.ts";
import { takeoverAfterMs } from "../../tenants/reservations/facts.ts";
import type { Reservations } from "../../tenants/reservations/reservations.ts";
import type { People } from "../persons/people.ts";
import { userByEmail } from "../sessions/login.ts";
import { emailTaken } from "../users/commands.ts";
import { userView, type UserView } from "../users/queries.ts";
import {
  invites, decide, inviteUsed, inviteValidMs, requireUsable, type Invite, type InviteCommand, type InviteState,
} from "./decide.ts";
import { inviteView, type CreatedInviteView } from "./queries.ts";

/** Inviting people, and their registration. The invite's user has its id, so that one key seals both addresses. */
export class InviteCommands {
  readonly #parts;
  readonly #limit: RateLimit | null;

  constructor(
    parts: Pick<
      KernelParts, "store" | "aggregates" | "readModels" | "freshness" | "passwords" | "state" | "clock" | "ids"
    > & { readonly reservations: Reservations; readonly people: People; readonly keys: PlatformKeys },
    options: { readonly registrationLimit: RateLimit | null },
  ) {
    this.#parts = parts;
    this.#limit = options.registrationLimit;
  }

  /** Invites someone; the token is shown only here. Throws a Refusal (invalid, not-found, forbidden, conflict). */
  async create(
    caller: Caller,
    input: Inputs["createInvite"],
    origin: Origin,
  ): Promise<CreatedInviteView> {
    checkEmail("email", input.email);
    const role = rolesByCode[input.role];
    const { aggregates, people, keys, ids, clock } = this.#parts;
    const { tenantId } = caller;
    const tenant = await ownTenant(aggregates, caller);
    const inviteId = ids.uuid();
    const inviteToken = secretToken(ids, "inv_");
    const now = clock.now();
    const command = (email: string): InviteCommand => ({
      type: "CreateInvite",
      by: caller,
      invite: {
        inviteId, tenantId, email, role,
        tokenHash: sha256(inviteToken),
        expiresAt: timestamp(now + inviteValidMs),
      },
      at: timestamp(now),
    });
    // Permission comes first, before anything that would reveal other tenants' users.
    decide(undefined, command(""));
    if (await userByEmail(this.#parts, await keys.emailHash(input.email))) refuse("conflict", emailTaken);
    await people.create(tenant, inviteId, origin);
    const create = command(await people.seal(tenant, inviteId, input.email));
    await aggregates.change(invites, inviteId, origin, (state) => decide(state, create));
    const { state } = await aggregates.read(invites, inviteId);
    const { email } = input;
    return { ...inviteView({ ...(state as Invite), email }, timestamp(now)), email, inviteToken };
  }

  /** Revokes an invite; repeating it changes nothing. Throws a Refusal (not-found, forbidden, conflict). */
  async revoke(caller: Caller, id: string, origin: Origin): Promise<void> {
    const { aggregates, clock } = this.#parts;
    const { state: invite } = await aggregates.current(invites, id);
    if (!invite) refuse("not-found", "invite not found");
    requireOwn(invite, caller, "invite");
    const isAbandoned = await this.#isAbandoned(invite);
    const revoke = (state: InviteState) => {
      // If the invite was used once more since, that registration may be under way.
      const abandoned = isAbandoned && state?.acceptedAt === invite.acceptedAt;
      return decide(state, { type: "RevokeInvite", by: caller, abandoned, at: timestampNow(clock) });
    };
    revoke(invite);
    if (isAbandoned) await this.#withdrawName(invite, caller, origin);
    await aggregates.change(invites, id, origin, revoke);
  }

  /** Counts a request to register, also one that fails. Throws a Refusal (too-many). */
  async admitRegistration(address: string): Promise<void> {
    if (!this.#limit) return;
    const slot = await this.#parts.state.admit([`invite-registration:${clientNetwork(address)}`], this.#limit);
    if (!slot) refuse("too-many", "too many registrations were tried from this address; try again later");
  }

  /** Creates the user of an invite; of parallel requests one goes on. Throws a Refusal. */
  async register(token: string, password: string, origin: Origin, address: string): Promise<UserView> {
    checkPassword("password", password);
    const { aggregates, reservations, people, keys, passwords, clock } = this.#parts;
    const invite = (await this.#find(token)) ?? refuse("not-found", "invite not found");
    const { id, tenantId, role, email: sealed } = invite;
    const abandoned = await this.#isAbandoned(invite);
    requireUsable(invite, timestampNow(clock), abandoned);
    const { state: tenant } = await aggregates.current(tenants, tenantId);
    if (!tenant) refuse("not-found", "invite not found");
    const email = (await people.open(tenant, id, sealed)) ?? refuse("not-found", "invite not found");
    const emailHash = await keys.emailHash(email);
    const passwordHash = await passwords.hash(password, addressOwner(address));
    const claim = { stream: streams.email(emailHash), holder: { tenantId, userId: id }, taken: emailTaken };
    await reservations.during([claim], origin, async ([reservation]) => {
      const at = timestampNow(clock);
      await aggregates.change(invites, id, origin, (state) => decide(state, { type: "AcceptInvite", abandoned, at }));
      await aggregates.change(tenants, tenantId, origin, (state) => decideTenant(state, {
        type: "RegisterUser",
        user: { userId: id, email: sealed, emailHash, passwordHash, role },
        reservation,
        at,
      }));
    });
    const user = (await aggregates.read(tenants, tenantId)).state?.users.get(id);
    return userView(tenantId, user ?? refuse("not-found", "user not found"), email);
  }

  /** Lets a process that used the invite up fail, should it be alive after all. */
  async #withdrawName({ id, tenantId, email: sealed }: Invite, caller: Caller, origin: Origin): Promise<void> {
    const { aggregates, reservations, people, keys } = this.#parts;
    const email = await people.open(await ownTenant(aggregates, caller), id, sealed);
    if (email === null) return;
    const stream = streams.email(await keys.emailHash(email));
    await reservations.withdraw({ stream, holder: { tenantId, userId: id }, taken: inviteUsed }, origin);
  }

  async #find(token: string): Promise<Invite | undefined> {
    const { aggregates, readModels, freshness } = this.#parts;
    const hash = sha256(token);
    const lookUp = () => documentOf(readModels, inviteHashes, hash);
    const known = (await lookUp()) ?? (await freshness.ask(lookUp));
    if (!known) return undefined;
    const { state } = await aggregates.current(invites, known.inviteId);
    return state?.tokenHash === hash ? state : undefined;
  }

  /** Whether a process died between using the invite up and creating its user. Throws a Refusal (unavailable). */
  async #isAbandoned({ id, tenantId, acceptedAt }: Invite): Promise<boolean> {
    const { store, clock } = this.#parts;
    if (acceptedAt === null || clock.now() - millis(acceptedAt) <= takeoverAfterMs) return false;
    let isUsed = false;
    await readPages(store, streams.tenant(tenantId), (page) => {
      isUsed = page.some((fact) => {
        if (fact.unreadable !== undefined) refuseUnreadable("a fact of the invite's tenant", fact);
        return (fact as RecordedEvent<UserEvent>).data.userId === id;
      });
      return !isUsed;
    });
    return !isUsed;
  }
}
