import { apiKeys as collection, type ApiKeyDocument } from "../../../../projections/api-keys/api-keys.ts";
import type { components } from "../../../../schemas/api.ts";
import type { Caller } from "../../../kernel/callers/caller.ts";
import type { DataOf } from "../../../kernel/domain/domain-event.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { tenantCounter } from "../../../kernel/ports/read-models.ts";
import { listed, type Page, type PageRequest } from "../../../kernel/read-models/paging.ts";
import { ownHistory, type HistoryRequest, type ToldFact } from "../../history.ts";
import { apiKeys } from "./decide.ts";
import type { ApiKeyEvent } from "./facts.ts";

/** Queries about API keys. */
export class ApiKeyQueries {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness">) {
    this.#parts = parts;
  }

  history(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    return ownHistory(this.#parts, { type: apiKeys, id, name: "API key" }, caller, asked);
  }

  list({ tenantId }: Caller, page: PageRequest): Promise<Page<ApiKeyView>> {
    const asked = { where: { tenantId }, counter: tenantCounter(collection, tenantId), page };
    return listed(this.#parts, collection, asked, (key) => key);
  }
}

/** An API key as the API shows it, and as the read models have it. */
export type ApiKeyView = ApiKeyDocument;

/** An API key as it is shown once, with the key itself. */
export type CreatedApiKeyView = Readonly<components["schemas"]["CreatedApiKey"]>;

/** The API's view of a key just issued. */
export function apiKeyView(issued: DataOf<ApiKeyEvent, "ApiKeyIssued">): ApiKeyView {
  const { keyId: id, tenantId, name, prefix, last4, expiresAt, at } = issued;
  return { id, tenantId, name, prefix, last4, createdAt: at, expiresAt, lastUsedAt: null };
}
