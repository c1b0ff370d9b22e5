import {
  subscriptionPlaces, subscriptions as collection, type SubscriptionDocument, type SubscriptionPlaceDocument,
} from "../../../projections/subscriptions/subscriptions.ts";
import type { components } from "../../../schemas/api.ts";
import subscriptionSchema from "../../../schemas/responses/subscription.json" with { type: "json" };
import { requireOwn, withinAudience } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Moments } from "../../kernel/log/moments.ts";
import { stateAt } from "../../kernel/log/past-states.ts";
import { tenantCounter } from "../../kernel/ports/read-models.ts";
import { fieldsOf } from "../../kernel/read-models/fields-of.ts";
import { listed, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import { historyPage, type HistoryRequest, type ToldFact } from "../history.ts";
import { subscriptions, subscriptionsId, type Subscription, type Subscriptions } from "./facts.ts";

/** Which subscriptions a list has. */
export interface SubscriptionFilter {
  readonly senderId?: string | undefined;
  readonly destinationUrlId?: string | undefined;
  readonly ownerId?: string | undefined;
}

/** Queries about subscriptions. */
export class SubscriptionQueries {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness"> & { readonly moments: Moments },
  ) {
    this.#parts = parts;
  }

  /** As it is, or was at a moment. Throws a Refusal (invalid, not-found, forbidden, unavailable). */
  async get(caller: Caller, id: string, asOf?: string): Promise<SubscriptionView> {
    if (asOf === undefined) return viewOf((await this.own(caller, id)).subscription);
    const { store, moments } = this.#parts;
    const asked = moments.read(asOf);
    const stream = await this.#streamOf(caller, id);
    const { moment } = await moments.find(caller.tenantId, asked);
    const state = await stateAt(store, subscriptions, stream, moment.position);
    const subscription = oneOf(state, id) ?? refuse("not-found", "subscription not found at that moment");
    return { ...viewOf(subscription), asOf: moment };
  }

  /** A subscription of the caller's tenant, and the id of its stream. Refuses: not-found, forbidden, unavailable. */
  async own(
    caller: Caller, id: string,
  ): Promise<{ readonly stream: string; readonly subscription: Subscription }> {
    const { senderId, ownerId } = await this.#placeOf(id);
    const stream = subscriptionsId(senderId, ownerId);
    const subscription = await this.#load(stream, id);
    requireOwn(subscription, caller, "subscription");
    return { stream, subscription };
  }

  /** A subscription in the stream of this id, as it is now. Throws a Refusal (not-found). */
  async at(stream: string, id: string): Promise<SubscriptionView> {
    return viewOf(await this.#load(stream, id));
  }

  list(
    caller: Caller, filter: SubscriptionFilter, page: PageRequest,
  ): Promise<Page<SubscriptionView>> {
    const { tenantId } = caller;
    const { destinationUrlIds: values, ...wanted } = withinAudience(caller, filter);
    const given = Object.entries(wanted as Readonly<Record<string, string | undefined>>)
      .flatMap(([field, value]) => (value === undefined ? [] : [[field, value] as const]));
    const counter = given.length === 0 && !values ? tenantCounter(collection, tenantId) : null;
    const where = { tenantId, ...Object.fromEntries(given) };
    const asked = { where, ...(values && { anyOf: { field: "destinationUrlId", values } }), counter, page };
    return listed(this.#parts, collection, asked, subscriptionView);
  }

  /** Every fact, of a deleted subscription, too. Throws a Refusal (not-found, forbidden, unavailable). */
  async history(caller: Caller, id: string, asked: HistoryRequest): Promise<Page<ToldFact>> {
    const stream = streams.subscriptions(await this.#streamOf(caller, id));
    return historyPage(this.#parts, caller, stream, { ...asked, subject: { field: "subscriptionId", id } });
  }

  /** The id of the stream of a subscription of the caller's tenant, which may be deleted. */
  async #streamOf(caller: Caller, id: string): Promise<string> {
    const place = await this.#placeOf(id);
    requireOwn({ ...place, destinationId: place.destinationUrlId }, caller, "subscription");
    return subscriptionsId(place.senderId, place.ownerId);
  }

  async #placeOf(id: string): Promise<SubscriptionPlaceDocument> {
    const { readModels, freshness } = this.#parts;
    const place = await freshness.ask(() => documentOf(readModels, subscriptionPlaces, id));
    return place ?? refuse("not-found", "subscription not found");
  }

  async #load(stream: string, id: string): Promise<Subscription> {
    const { state } = await this.#parts.aggregates.current(subscriptions, stream);
    return oneOf(state, id) ?? refuse("not-found", "subscription not found");
  }
}

function oneOf(state: Subscriptions | undefined, id: string): Subscription | undefined {
  return state?.live.find((one) => one.id === id);
}

function viewOf({ destinationId, revision: _, ...subscription }: Subscription): SubscriptionView {
  return subscriptionView({ ...subscription, destinationUrlId: destinationId });
}

/** A subscription as the API shows it. */
export type SubscriptionView = Readonly<components["schemas"]["Subscription"]>;

/** The API's view of a subscription as the read models have it. */
function subscriptionView(document: SubscriptionDocument): SubscriptionView {
  const eventTypes = document.eventTypes && [...document.eventTypes];
  const status = document.active ? "Active" : "Inactive";
  return fieldsOf<SubscriptionView>(subscriptionSchema, { ...document, eventTypes, status });
}
