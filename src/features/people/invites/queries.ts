import { invites as collection } from "../../../../projections/invites/invites.ts";
import type { Caller } from "../../../kernel/callers/caller.ts";
import type { HistoryItem } from "../../../kernel/domain/history-fields.ts";
import type { Aggregates } from "../../../kernel/log/aggregates.ts";
import { ownHistory, type HistoryRequest } from "../../../kernel/log/history.ts";
import type { Clock } from "../../../kernel/ports/clock/clock.ts";
import { timestampNow } from "../../../kernel/ports/clock/timestamp-now.ts";
import type { EventStore } from "../../../kernel/ports/event-store.ts";
import type { ReadModels } from "../../../kernel/ports/read-models.ts";
import type { Freshness } from "../../../kernel/read-models/freshness.ts";
import { listed, type Page, type PageRequest } from "../../../kernel/read-models/paging.ts";
import { tenantCounter } from "../../../kernel/read-models/projection.ts";
import { invites } from "../../aggregate-types.ts";
import { inviteView, type InviteView } from "../../views.ts";

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
