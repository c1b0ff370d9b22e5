import { invites as collection, type InviteDocument } from "../../../../projections/invites/invites.ts";
import type { components } from "../../../../schemas/api.ts";
import type { Caller } from "../../../kernel/callers/caller.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import { tenantCounter } from "../../../kernel/ports/read-models.ts";
import { listed, type Page, type PageRequest } from "../../../kernel/read-models/paging.ts";
import { ownHistory, type HistoryRequest, type ToldFact } from "../../history.ts";
import { invites } from "./decide.ts";

/** Queries about invites. */
export class InviteQueries {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness" | "clock">) {
    this.#parts = parts;
  }

  history(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    return ownHistory(this.#parts, { type: invites, id, name: "invite" }, caller, asked);
  }

  list({ tenantId }: Caller, page: PageRequest): Promise<Page<InviteView>> {
    const asked = { where: { tenantId }, counter: tenantCounter(collection, tenantId), page };
    return listed(this.#parts, collection, asked, (invite) =>
      inviteView(invite, timestampNow(this.#parts.clock)));
  }
}

/** An invite as the API shows it. */
export type InviteView = Readonly<components["schemas"]["Invite"]>;

/** An invite as it is shown once, with its token. */
export type CreatedInviteView = Readonly<components["schemas"]["CreatedInvite"]>;

/** The API's view of an invite, its email opened, at `now` (ISO 8601 UTC). */
export function inviteView(invite: InviteDocument, now: string): InviteView {
  const { id, tenantId, email, role, createdAt, expiresAt } = invite;
  const status = invite.status === "Pending" && expiresAt <= now ? "Expired" : invite.status;
  return { id, tenantId, email, role, status, createdAt, expiresAt };
}
