import { apiKeys, apiKeysCounter } from "../../../projections/api-keys/api-keys.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import type { Caller } from "../commands/caller.ts";
import type { Freshness } from "../freshness.ts";
import type { ApiKeyView } from "../views.ts";
import { pageFrom, sliceOf, type Page, type PageRequest } from "./paging.ts";

/** What is asked of API keys. */
export class ApiKeyQueries {
  readonly #parts: { readModels: ReadModels; freshness: Freshness };

  constructor(parts: { readModels: ReadModels; freshness: Freshness }) {
    this.#parts = parts;
  }

  /** The unrevoked keys of the caller's tenant. Throws a Refusal (unavailable) when the read models are behind. */
  async list({ tenantId }: Caller, page: PageRequest): Promise<Page<ApiKeyView>> {
    const { readModels, freshness } = this.#parts;
    await freshness.wait();
    return pageFrom(page, readModels.sum(apiKeysCounter(tenantId)), async () => {
      const found = await readModels.find({ collection: apiKeys.name, where: { tenantId }, ...sliceOf(page) });
      return found as unknown as ApiKeyView[];
    });
  }
}
