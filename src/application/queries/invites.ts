import { invites, invitesCounter, type InviteDocument } from "../../../projections/invites/invites.ts";
import type { InviteStatus } from "../../domain/invite/invite.ts";
import type { Role } from "../../domain/roles.ts";
import { timestamp } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import type { Caller } from "../commands/caller.ts";
import type { Freshness } from "../freshness.ts";
import { pageFrom, sliceOf, type Page, type PageRequest } from "./paging.ts";

/** An invite as the API shows it. */
export interface InviteView {
  readonly id: string;
  readonly tenantId: string;
  /** Null once the user that came of it was deleted. */
  readonly email: string | null;
  readonly role: Role;
  readonly status: InviteStatus | "Expired";
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** The API's view of an invite, its email opened, at `now` (ISO 8601 UTC). */
export function inviteView(invite: InviteDocument, now: string): InviteView {
  const { id, tenantId, email, role, createdAt, expiresAt } = invite;
  const status = invite.status === "Pending" && expiresAt <= now ? "Expired" : invite.status;
  return { id, tenantId, email, role, status, createdAt, expiresAt };
}

/** What is asked of invites. */
export class InviteQueries {
  readonly #parts: { readModels: ReadModels; freshness: Freshness; clock: Clock };

  constructor(parts: { readModels: ReadModels; freshness: Freshness; clock: Clock }) {
    this.#parts = parts;
  }

  /** The invites of the caller's tenant, whatever became of them. Throws a Refusal (unavailable) when behind. */
  async list({ tenantId }: Caller, page: PageRequest): Promise<Page<InviteView>> {
    const { readModels, freshness, clock } = this.#parts;
    await freshness.wait();
    return pageFrom(page, readModels.sum(invitesCounter(tenantId)), async () => {
      const found = await readModels.find({ collection: invites.name, where: { tenantId }, ...sliceOf(page) });
      const now = timestamp(clock.now());
      return (found as unknown as InviteDocument[]).map((document) => inviteView(document, now));
    });
  }
}
