import { apiKeys as collection } from "../../../../projections/api-keys/api-keys.ts";
import type { Caller } from "../../../kernel/callers/caller.ts";
import type { HistoryItem } from "../../../kernel/domain/history-fields.ts";
import type { Aggregates } from "../../../kernel/log/aggregates.ts";
import { ownHistory, type HistoryRequest } from "../../../kernel/log/history.ts";
import type { EventStore } from "../../../kernel/ports/event-store.ts";
import type { ReadModels } from "../../../kernel/ports/read-models.ts";
import type { Freshness } from "../../../kernel/read-models/freshness.ts";
import { listed, type Page, type PageRequest } from "../../../kernel/read-models/paging.ts";
import { tenantCounter } from "../../../kernel/read-models/projection.ts";
import { apiKeys } from "../../aggregate-types.ts";
import type { ApiKeyView } from "../../views.ts";

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
