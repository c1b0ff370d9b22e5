import {
  destinations as collection, destinationsSelected, type DestinationFilter,
} from "../../../projections/destinations/destinations.ts";
import { tenantCounter } from "../../../projections/projection.ts";
import { availability, availabilityOf } from "../../domain/destination/availability.ts";
import type { HistoryItem } from "../../domain/history-fields.ts";
import { streams } from "../../domain/streams.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { ownOf } from "../access.ts";
import { circuits, destinations } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import type { Freshness } from "../freshness.ts";
import { listed, type Page, type PageRequest } from "../paging.ts";
import { destinationView, type DestinationView } from "../views.ts";
import { ownHistory } from "./history.ts";

interface DestinationQueryParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
}

/** Queries about destinations. */
export class DestinationQueries {
  readonly #parts: DestinationQueryParts;

  constructor(parts: DestinationQueryParts) {
    this.#parts = parts;
  }

  /** Throws a Refusal (not-found, forbidden). */
  async get(caller: Caller, id: string): Promise<DestinationView> {
    const { aggregates } = this.#parts;
    const [destination, circuit] = await Promise.all([
      ownOf(aggregates, destinations, id, caller, "destination"), aggregates.current(circuits, id),
    ]);
    const shown = { ...destination, authType: destination.auth?.type ?? null };
    return destinationView(shown, availabilityOf(destination, circuit.state));
  }

  /**
   * Every fact of the destination, without its secrets; a deleted one's, too. An attempt's `destinationRevision` is
   * that of the newest fact it was made under. Throws a Refusal (not-found, forbidden).
   */
  history(caller: Caller, id: string, page: PageRequest): Promise<Page<HistoryItem>> {
    return ownHistory(this.#parts, { type: destinations, id, name: "destination" }, caller, page);
  }

  /** Every fact of the destination's circuit; a deleted one's, too. Throws a Refusal (not-found, forbidden). */
  circuitHistory(caller: Caller, id: string, page: PageRequest): Promise<Page<HistoryItem>> {
    const thing = { type: destinations, id, name: "destination", stream: streams.circuit(id) };
    return ownHistory(this.#parts, thing, caller, page);
  }

  /** The destinations of the caller's tenant. Throws a Refusal (unavailable) when the read models are behind. */
  list(
    { tenantId }: Caller, { status }: Omit<DestinationFilter, "tenantId">, page: PageRequest,
  ): Promise<Page<DestinationView>> {
    // A circuit's fact does not say which status it ends, so no counter can follow.
    const counter = status ? null : tenantCounter(collection, tenantId);
    const asked = { ...destinationsSelected({ tenantId, status }), counter, page };
    return listed(this.#parts, collection, asked, (found) => destinationView(found, availability(found)));
  }
}
