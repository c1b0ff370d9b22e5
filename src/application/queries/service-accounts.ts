import { tenantCounter } from "../../../projections/projection.ts";
import {
  keyCounter, serviceAccounts as collection, serviceKeys,
} from "../../../projections/service-accounts/service-accounts.ts";
import type { HistoryItem } from "../../domain/history-fields.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { ownOf } from "../access.ts";
import { serviceAccounts } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import type { Freshness } from "../freshness.ts";
import { listed, type Page, type PageRequest } from "../paging.ts";
import { serviceAccountView, type ServiceAccountView, type ServiceKeyView } from "../views.ts";
import { ownHistory, type HistoryRequest } from "./history.ts";

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
