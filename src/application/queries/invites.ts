import { invites as collection } from "../../../projections/invites/invites.ts";
import { tenantCounter } from "../../../projections/projection.ts";
import type { HistoryItem } from "../../domain/history-fields.ts";
import type { Clock } from "../../ports/clock/clock.ts";
import { timestampNow } from "../../ports/clock/timestamp-now.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { invites } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import type { Freshness } from "../freshness.ts";
import { listed, type Page, type PageRequest } from "../paging.ts";
import { inviteView, type InviteView } from "../views.ts";
import { ownHistory, type HistoryRequest } from "./history.ts";

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
  history(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<HistoryItem>> {
    return ownHistory(this.#parts, { type: invites, id, name: "invite" }, caller, asked);
  }

  /**
   * The invites of the caller's tenant, of any status. Throws a Refusal (unavailable) when the read models are behind.
   */
  list({ tenantId }: Caller, page: PageRequest): Promise<Page<InviteView>> {
    const asked = { where: { tenantId }, counter: tenantCounter(collection, tenantId), page };
    return listed(this.#parts, collection, asked, (invite) =>
      inviteView(invite, timestampNow(this.#parts.clock)));
  }
}
