import { tenantCounter } from "../../../projections/projection.ts";
import { senders as collection } from "../../../projections/senders/senders.ts";
import type { HistoryItem } from "../../domain/history-fields.ts";
import { refuse } from "../../domain/refusal.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { Mappings } from "../../ports/mapping.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { ownOf } from "../access.ts";
import { senders } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import type { Freshness } from "../freshness.ts";
import { listed, type Page, type PageRequest } from "../paging.ts";
import { senderView, type SenderView } from "../views.ts";
import { ownHistory } from "./history.ts";

interface SenderQueryParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
  readonly mappings: Mappings;
}

/** Queries about senders. */
export class SenderQueries {
  readonly #parts: SenderQueryParts;

  constructor(parts: SenderQueryParts) {
    this.#parts = parts;
  }

  /** Throws a Refusal (not-found, forbidden). */
  async get(caller: Caller, id: string): Promise<SenderView> {
    const sender = await ownOf(this.#parts.aggregates, senders, id, caller, "sender");
    return senderView({ ...sender, destinationUrlId: sender.destinationId });
  }

  /** Every fact of the sender, without its secrets; a deleted one's, too. Throws a Refusal (not-found, forbidden). */
  history(caller: Caller, id: string, page: PageRequest): Promise<Page<HistoryItem>> {
    return ownHistory(this.#parts, { type: senders, id, name: "sender" }, caller, page);
  }

  /** The senders of the caller's tenant. Throws a Refusal (unavailable) when the read models are behind. */
  list({ tenantId }: Caller, page: PageRequest): Promise<Page<SenderView>> {
    const asked = { where: { tenantId }, counter: tenantCounter(collection, tenantId), page };
    return listed(this.#parts, collection, asked, senderView);
  }

  /**
   * The JSON text that would be delivered for a payload, the text of an object. Throws a Refusal (not-found,
   * forbidden, invalid, unavailable).
   */
  async testMapping(caller: Caller, id: string, payload: string): Promise<string> {
    const { aggregates, mappings } = this.#parts;
    const { mapping, tenantId } = await ownOf(aggregates, senders, id, caller, "sender");
    if (!mapping) return payload;
    const mapped = await mappings.apply(tenantId, mapping.expression, payload);
    return "text" in mapped ? mapped.text : refuse("invalid", `payload: the mapping ${mapped.problem}`);
  }
}
