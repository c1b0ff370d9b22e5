import { invites as inviteDocuments, type InviteDocument } from "../../../../projections/invites/invites.ts";
import { forgetting } from "../../../../projections/users/users.ts";
import { streams } from "../../../kernel/domain/streams.ts";
import { millis } from "../../../kernel/domain/time.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { readPages } from "../../../kernel/log/long-reads.ts";
import { hasNewerStream } from "../../../kernel/log/newer-streams.ts";
import type { Origin } from "../../../kernel/log/origin.ts";
import { refuseUnreadable } from "../../../kernel/log/unreadable.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import type { RecordedEvent } from "../../../kernel/ports/event-store.ts";
import { everyDocument } from "../../../kernel/read-models/scans.ts";
import { comparableEmail } from "../../../kernel/tools/hashing.ts";
import { decide } from "../../tenants/decide.ts";
import { tenants, type Tenant, type UserEvent } from "../../tenants/facts.ts";
import type { ViewCommands } from "../../views/commands.ts";
import { invites, decide as decideInvite } from "../invites/decide.ts";
import type { People } from "./people.ts";

/** A deleted user who is not forgotten yet. */
export interface DeletedUser {
  readonly tenantId: string;
  readonly userId: string;
}

/** Makes a deleted user's addresses unreadable, in the log too, and deletes the user's views. It can be repeated. */
export class Forgetting {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness" | "clock">
      & { readonly people: People; readonly views: Pick<ViewCommands, "removeAllOf"> },
  ) {
    this.#parts = parts;
  }

  /** Forgets a deleted user; false where that is done. Throws LogUnavailable, Unsealable, a Refusal (unavailable). */
  async forget({ tenantId, userId }: DeletedUser, origin: Origin): Promise<boolean> {
    const { aggregates, people, clock } = this.#parts;
    const { state: tenant } = await aggregates.current(tenants, tenantId);
    const facts = await this.#factsAbout(tenantId, userId);
    // Read models that are behind go on to name the user.
    if (facts.some(({ type }) => type === "UserForgotten")) return false;
    await this.requireInvites();
    if (tenant) await this.#forgetInvites(tenant, userId, facts, origin);
    await this.#parts.views.removeAllOf(userId, origin);
    await people.forget(userId);
    const command = { type: "ForgetUser", userId, at: timestampNow(clock) } as const;
    await aggregates.change(tenants, tenantId, origin, (state) => (state ? decide(state, command) : []));
    return true;
  }

  /** Throws a Refusal (unavailable) where only a newer release can read an invite: it may be to anybody. */
  async requireInvites(): Promise<void> {
    const isNewer = await hasNewerStream(this.#parts, invites.category);
    if (isNewer) refuseUnreadable("the record of an invite", { newer: true });
  }

  /** Users deleted before `before` (ISO 8601 UTC) who are not forgotten. */
  async overdue(before: string): Promise<readonly DeletedUser[]> {
    return (await everyDocument(this.#parts.readModels, forgetting))
      .filter(({ deletedAt }) => deletedAt < before)
      .map(({ tenantId, userId }) => ({ tenantId, userId }));
  }

  /** Forgets the tenant's unused invites to the user's addresses: they would let the user in again. */
  async #forgetInvites(tenant: Tenant, userId: string, facts: readonly UserEvent[], origin: Origin): Promise<void> {
    const { people, readModels, freshness } = this.#parts;
    const addresses = await this.#addressesIn(facts, tenant, userId);
    if (addresses.size === 0) return;
    const isMeant = ({ email, status, createdAt }: InviteDocument) => {
      // A forgotten invite shows no address; the process that forgot it may have died before it deleted the key.
      if (email === null) return status === "Revoked";
      const givenUp = addresses.get(comparableEmail(email));
      return givenUp !== undefined && millis(createdAt) < givenUp;
    };
    const where = { tenantId: tenant.id };
    const found = await freshness.ask(async () =>
      (await everyDocument(readModels, inviteDocuments, { where })).filter(isMeant));
    for (const { id, email } of found) {
      if (email === null || (await this.#forgetInvite(id, origin))) await people.forget(id);
    }
  }

  /** False where the invite is used by now: its key is the new user's. */
  async #forgetInvite(id: string, origin: Origin): Promise<boolean> {
    const { aggregates, clock } = this.#parts;
    const command = { type: "ForgetInvite", at: timestampNow(clock) } as const;
    await aggregates.current(invites, id);
    const { events } = await aggregates.change(invites, id, origin, (state) => decideInvite(state, command));
    return events.length > 0;
  }

  async #factsAbout(tenantId: string, userId: string): Promise<readonly UserEvent[]> {
    const about: UserEvent[] = [];
    await readPages(this.#parts.store, streams.tenant(tenantId), (page) => {
      const facts = page.filter(({ unreadable }) => unreadable === undefined) as readonly RecordedEvent<UserEvent>[];
      about.push(...facts.filter(({ data }) => data.userId === userId));
    });
    return about;
  }

  /** When the user gave up each address it had (comparable form, ms since 1970); none once its key is gone. */
  async #addressesIn(
    facts: readonly UserEvent[], tenant: Tenant, userId: string,
  ): Promise<ReadonlyMap<string, number>> {
    const taken = facts.flatMap(({ data }) => ("email" in data ? [data] : []));
    const addresses = new Map<string, number>();
    for (const [at, data] of taken.entries()) {
      const email = await this.#parts.people.open(tenant, userId, data.email);
      const next = taken[at + 1];
      if (email !== null) addresses.set(comparableEmail(email), next ? millis(next.at) : Infinity);
    }
    return addresses;
  }
}
