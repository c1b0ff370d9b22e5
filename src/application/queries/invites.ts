import { invites as collection, invitesCounter, type InviteDocument } from "../../../projections/invites/invites.ts";
import type { InviteStatus } from "../../domain/invite/invite.ts";
import type { Role } from "../../domain/roles.ts";
import { timestamp } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { invites } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Caller } from "../commands/caller.ts";
import type { Freshness } from "../freshness.ts";
import { ownHistory, type HistoryItem } from "./history.ts";
import { listed, type Page, type PageRequest } from "./paging.ts";

/** An invite as the API shows it. */
export interface InviteView {
  readonly id: string;
  readonly tenantId: string;
  /** Null once the user who came of it, or who had the address, was deleted. */
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

interface InviteQueryParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
  readonly clock: Clock;
}

/** Queries about invites. */
export class InviteQueries {
  readonly #parts: InviteQueryParts;

  constructor(parts: InviteQueryParts) {
    this.#parts = parts;
  }

  /** Every fact of the invite, without token and address. Throws a Refusal (not-found, forbidden). */
  history(caller: Caller, id: string, page: PageRequest): Promise<Page<HistoryItem>> {
    return ownHistory(this.#parts, { type: invites, id, name: "invite" }, caller, page);
  }

  /** The invites of the caller's tenant, whatever became of them. Throws a Refusal (unavailable) when behind. */
  list({ tenantId }: Caller, page: PageRequest): Promise<Page<InviteView>> {
    return listed(this.#parts, collection, { where: { tenantId }, counter: invitesCounter(tenantId), page }, (invite) =>
      inviteView(invite, timestamp(this.#parts.clock.now())));
  }
}
