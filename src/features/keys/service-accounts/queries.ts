import {
  keyCounter, serviceAccounts as collection, serviceKeys,
} from "../../../../projections/service-accounts/service-accounts.ts";
import { ownOf } from "../../../kernel/callers/access.ts";
import type { Caller } from "../../../kernel/callers/caller.ts";
import type { HistoryItem } from "../../../kernel/domain/history-fields.ts";
import type { Aggregates } from "../../../kernel/log/aggregates.ts";
import { ownHistory, type HistoryRequest } from "../../../kernel/log/history.ts";
import type { EventStore } from "../../../kernel/ports/event-store.ts";
import type { ReadModels } from "../../../kernel/ports/read-models.ts";
import type { Freshness } from "../../../kernel/read-models/freshness.ts";
import { listed, type Page, type PageRequest } from "../../../kernel/read-models/paging.ts";
import { tenantCounter } from "../../../kernel/read-models/projection.ts";
import { serviceAccounts } from "../../aggregate-types.ts";
import { serviceAccountView, type ServiceAccountView, type ServiceKeyView } from "../../views.ts";

interface ServiceAccountQueryParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
}

const name = "service account";

/** Queries about service accounts and their keys. */
export class ServiceAccountQueries {
  readonly #parts: ServiceAccountQueryParts;

  constructor(parts: ServiceAccountQueryParts) {
    this.#parts = parts;
  }

  /** Throws a Refusal (not-found, forbidden). */
  async get(caller: Caller, id: string): Promise<ServiceAccountView> {
    return serviceAccountView(await ownOf(this.#parts.aggregates, serviceAccounts, id, caller, name));
  }

  /** Every fact of the account and its keys, without their hashes; a deleted one's, too. Throws a Refusal. */
  history(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<HistoryItem>> {
    return ownHistory(this.#parts, { type: serviceAccounts, id, name }, caller, asked);
  }

  /** The service accounts of the caller's tenant. Throws a Refusal (unavailable) when the read models are behind. */
  list({ tenantId }: Caller, page: PageRequest): Promise<Page<ServiceAccountView>> {
    const asked = { where: { tenantId }, counter: tenantCounter(collection, tenantId), page };
    return listed(this.#parts, collection, asked, serviceAccountView);
  }

  /** The unrevoked keys of an account. Throws a Refusal (not-found, forbidden, unavailable). */
  async keys(caller: Caller, id: string, page: PageRequest): Promise<Page<ServiceKeyView>> {
    const { id: serviceAccountId } = await ownOf(this.#parts.aggregates, serviceAccounts, id, caller, name);
    const asked = { where: { serviceAccountId }, counter: keyCounter(serviceAccountId), page };
    return listed(this.#parts, serviceKeys, asked, (key) => key);
  }
}
