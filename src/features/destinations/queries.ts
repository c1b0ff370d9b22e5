import {
  destinations as collection, destinationsSelected, type DestinationFilter, type DestinationDocument,
} from "../../../projections/destinations/destinations.ts";
import type { components } from "../../../schemas/api.ts";
import destinationSchema from "../../../schemas/responses/destination.json" with { type: "json" };
import { ownOf, withinAudience } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Moments } from "../../kernel/log/moments.ts";
import { viewAsOf, stateAt } from "../../kernel/log/past-states.ts";
import { tenantCounter, type Selection } from "../../kernel/ports/read-models.ts";
import { fieldsOf } from "../../kernel/read-models/fields-of.ts";
import { listed, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import { type Circuit, circuits } from "../circuits/facts.ts";
import { ownHistory, type HistoryRequest, type ToldFact } from "../history.ts";
import { shownCertificate } from "./certificates/facts.ts";
import {
  availability, availabilityOf, type Availability, destinations, type Destination, type DestinationStatus,
} from "./facts.ts";
import { maskedHeaders } from "./headers.ts";
import { healthOf, loadOf, noLoad, unknownLoad, type Health, type Load } from "./health.ts";

/** Queries about destinations. */
export class DestinationQueries {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness"> & { readonly moments: Moments },
  ) {
    this.#parts = parts;
  }

  /** As it is, or was at a moment. Throws a Refusal (invalid, not-found, forbidden, unavailable). */
  async get(caller: Caller, id: string, asOf?: string): Promise<DestinationView> {
    const { store, aggregates } = this.#parts;
    if (asOf !== undefined) {
      return viewAsOf(this.#parts, { type: destinations, id, name: "destination" }, caller, asOf,
        async (destination, { position }) =>
          viewOf(destination, await stateAt(store, circuits, id, position), unknownLoad));
    }
    await ownOf(aggregates, destinations, id, caller, "destination");
    return this.withLoad(caller, id, await this.load(caller, id));
  }

  /** As it is, with this load. Throws a Refusal (not-found, forbidden, unavailable). */
  async withLoad(caller: Caller, id: string, load: Load): Promise<DestinationView> {
    const { aggregates } = this.#parts;
    const [destination, circuit] = await Promise.all([
      ownOf(aggregates, destinations, id, caller, "destination"), aggregates.current(circuits, id),
    ]);
    return viewOf(destination, circuit.state, load);
  }

  /** The load of a destination of the caller's tenant. Throws a Refusal (unavailable). */
  load({ tenantId }: Caller, id: string): Promise<Load> {
    const { readModels, freshness } = this.#parts;
    return freshness.ask(async () => {
      const document = await documentOf(readModels, collection, id);
      return loadOf(readModels, { tenantId, destinationUrlId: id }, document ?? noLoad);
    });
  }

  /** Every fact, of a deleted destination, too, without its secrets. Throws a Refusal (not-found, forbidden). */
  history(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    return ownHistory(this.#parts, { type: destinations, id, name: "destination" }, caller, asked);
  }

  circuitHistory(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    const thing = { type: destinations, id, name: "destination", stream: streams.circuit(id) };
    return ownHistory(this.#parts, thing, caller, asked);
  }

  async list(
    caller: Caller, { status }: Omit<DestinationFilter, "tenantId">, page: PageRequest,
  ): Promise<Page<DestinationView>> {
    const { tenantId } = caller;
    const { destinationUrlIds } = withinAudience(caller, {});
    // A circuit's fact does not say which status it ends, so no counter can follow.
    const counter = status || destinationUrlIds ? null : tenantCounter(collection, tenantId);
    const selected = destinationUrlIds
      ? await this.#among(destinationUrlIds, status) : destinationsSelected({ tenantId, status });
    const asked = { ...selected, counter, page };
    return listed(this.#parts, collection, asked, async (found) => {
      const { id, circuit: position, failures, openUntil } = found;
      const load = await loadOf(this.#parts.readModels, { tenantId, destinationUrlId: id }, found);
      return destinationView(found, availability(found), healthOf({ position, failures, openUntil }, load));
    });
  }

  /** Selects those of a status among a few destinations. */
  async #among(ids: readonly string[], status: DestinationStatus | undefined): Promise<Selection> {
    const { readModels, freshness } = this.#parts;
    const { name, key } = collection;
    const among = (values: readonly string[]) => ({ collection: name, anyOf: { field: key, values } });
    if (!status) return among(ids);
    const order = { field: key, descending: false };
    const found = await freshness.ask(() => readModels.find({ ...among(ids), order, limit: ids.length }));
    const wanted = (found as readonly DestinationDocument[]).filter((one) => availability(one).status === status);
    return among(wanted.map(({ id }) => id));
  }
}

/** The API's view of a folded destination. */
export function viewOf(destination: Destination, circuit: Circuit | undefined, load: Load): DestinationView {
  const { auth, circuit: circuitPolicy, headers, clientCertificate } = destination;
  const shown = {
    ...destination, authType: auth?.type ?? null, circuitPolicy, headers: maskedHeaders(headers),
    clientCertificate: shownCertificate(clientCertificate),
  };
  return destinationView(shown, availabilityOf(destination, circuit), healthOf(circuit, load));
}

/** A destination as the API shows it. */
export type DestinationView = Readonly<components["schemas"]["Destination"]>;

type Shown = Omit<
  DestinationDocument, "active" | "circuit" | "openUntil" | "failures" | "failingSince" | "wakeAt" | "lastSuccessAt"
  | "lastFailureAt"
>;

/** The API's view of a destination as the read models have it, with its availability and health. */
export function destinationView(
  { authType, circuitPolicy, ...document }: Shown, availability: Availability, health: Health,
): DestinationView {
  const shown = { ...document, ...availability, circuit: circuitPolicy, ...(authType && { authType }), health };
  return fieldsOf(destinationSchema, shown as DestinationView);
}
