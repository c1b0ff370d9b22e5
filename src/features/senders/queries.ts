import { senders as collection, type SenderDocument } from "../../../projections/senders/senders.ts";
import type { components } from "../../../schemas/api.ts";
import senderSchema from "../../../schemas/responses/sender.json" with { type: "json" };
import { ownOf } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Moments } from "../../kernel/log/moments.ts";
import { viewAsOf } from "../../kernel/log/past-states.ts";
import { tenantCounter } from "../../kernel/ports/read-models.ts";
import { fieldsOf } from "../../kernel/read-models/fields-of.ts";
import { listed, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import { ownHistory, type HistoryRequest, type ToldFact } from "../history.ts";
import { checkedMapping } from "../mappings.ts";
import { senders, type Mapping, type Sender } from "./facts.ts";

/** Queries about senders. */
export class SenderQueries {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness" | "mappings">
      & { readonly moments: Moments },
  ) {
    this.#parts = parts;
  }

  /** As it is, or was at a moment. Throws a Refusal (invalid, not-found, forbidden, unavailable). */
  async get(caller: Caller, id: string, asOf?: string): Promise<SenderView> {
    const thing = { type: senders, id, name: "sender" };
    if (asOf !== undefined) return viewAsOf(this.#parts, thing, caller, asOf, viewOf);
    const sender = await ownOf(this.#parts.aggregates, senders, id, caller, "sender");
    return viewOf(sender);
  }

  history(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    return ownHistory(this.#parts, { type: senders, id, name: "sender" }, caller, asked);
  }

  list({ tenantId }: Caller, page: PageRequest): Promise<Page<SenderView>> {
    const asked = { where: { tenantId }, counter: tenantCounter(collection, tenantId), page };
    return listed(this.#parts, collection, asked, senderView);
  }

  /** The JSON text that would be delivered for a payload. Throws a Refusal. */
  async testMapping(caller: Caller, id: string, payload: string): Promise<string> {
    const { mapping, tenantId } = await ownOf(this.#parts.aggregates, senders, id, caller, "sender");
    return mapping ? this.#mapped(tenantId, mapping, payload) : payload;
  }

  /** The same for a mapping that need not be any sender's. Throws a Refusal (invalid, unavailable). */
  async tryMapping({ tenantId }: Caller, mapping: Mapping, payload: string): Promise<string> {
    return this.#mapped(tenantId, await checkedMapping(this.#parts.mappings, tenantId, mapping), payload);
  }

  async #mapped(tenantId: string, { expression }: Mapping, payload: string): Promise<string> {
    const mapped = await this.#parts.mappings.apply(tenantId, expression, payload);
    return "text" in mapped ? mapped.text : refuse("invalid", `payload: the mapping ${mapped.problem}`);
  }
}

function viewOf(sender: Sender): SenderView {
  return senderView({ ...sender, destinationUrlId: sender.destinationId });
}

/** A sender as the API shows it. */
export type SenderView = Readonly<components["schemas"]["Sender"]>;

/** The API's view of a sender as the read models have it. */
export function senderView(document: SenderDocument): SenderView {
  const searchFields = [...document.searchFields];
  const status = document.active ? "Active" : "Inactive";
  return fieldsOf<SenderView>(senderSchema, { ...document, searchFields, status });
}
