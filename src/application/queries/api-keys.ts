import { apiKeys as collection } from "../../../projections/api-keys/api-keys.ts";
import { tenantCounter } from "../../../projections/projection.ts";
import type { HistoryItem } from "../../domain/history-fields.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { apiKeys } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import type { Freshness } from "../freshness.ts";
import { listed, type Page, type PageRequest } from "../paging.ts";
import type { ApiKeyView } from "../views.ts";
import { ownHistory, type HistoryRequest } from "./history.ts";

interface ApiKeyQueryParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
}

/** Queries about API keys. */
export class ApiKeyQueries {
  readonly #parts: ApiKeyQueryParts;

  constructor(parts: ApiKeyQueryParts) {
    this.#parts = parts;
  }

  /** Every fact of the key, without its hash; a revoked one's, too. Throws a Refusal (not-found, forbidden). */
  history(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<HistoryItem>> {
    return ownHistory(this.#parts, { type: apiKeys, id, name: "API key" }, caller, asked);
  }

  /** The unrevoked keys of the caller's tenant. Throws a Refusal (unavailable) when the read models are behind. */
  list({ tenantId }: Caller, page: PageRequest): Promise<Page<ApiKeyView>> {
    const asked = { where: { tenantId }, counter: tenantCounter(collection, tenantId), page };
    return listed(this.#parts, collection, asked, (key) => key);
  }
}
