import type { DomainEvent } from "../domain/domain-event.ts";
import { refuse } from "../domain/refusal.ts";
import type { Aggregates, AggregateType } from "../log/aggregates.ts";
import { isPortal, mostNamed, type Audience, type Caller } from "./caller.ts";

interface Deletable {
  readonly tenantId: string;
  readonly deleted: boolean;
}

/** The aggregate of this id, unless it is deleted. Throws a Refusal (not-found). */
export async function existing<State extends Deletable, Event extends DomainEvent>(
  aggregates: Aggregates, type: AggregateType<State, Event>, id: string, name: string,
): Promise<State> {
  const { state } = await aggregates.current(type, id);
  return state && !state.deleted ? state : refuse("not-found", `${name} not found`);
}

/** The aggregate of this id, of the caller's tenant, unless it is deleted. Throws a Refusal (not-found, forbidden). */
export async function ownOf<State extends Deletable, Event extends DomainEvent>(
  aggregates: Aggregates, type: AggregateType<State, Event>, id: string, caller: Caller, name: string,
): Promise<State> {
  const state = await existing(aggregates, type, id, name);
  requireOwn(state, caller, name);
  return state;
}

/** Anything of a tenant. A destination has its `id`, a thing about one destination its `destinationId`. */
interface Owned {
  readonly tenantId: string;
  readonly id?: string;
  readonly destinationId?: string | null;
  /** Of a sender: customers subscribe to senders with `fanOut`. */
  readonly fanOut?: boolean;
}

/** Refuses others' things: forbidden; not-found to a visitor of the portal whose link does not name it. */
export function requireOwn(thing: Owned, caller: Caller, name: string): void {
  const isOwn = thing.tenantId === caller.tenantId;
  if (isPortal(caller) && !(isOwn && isNamed(thing, caller.audience))) refuse("not-found", `${name} not found`);
  if (!isOwn) refuse("forbidden", `the ${name} belongs to another tenant`);
}

function isNamed({ id, destinationId = id, fanOut = false }: Owned, { ownerId, destinationIds }: Audience): boolean {
  return (fanOut && ownerId !== null) || destinationIds.has(destinationId ?? "");
}

/** The owner of a new thing: to visitors of the portal their link's. Refuses (forbidden) another, and links without. */
export function ownerOfNew<Owner extends string | null | undefined>(caller: Caller, given: Owner): Owner | string {
  if (!isPortal(caller)) return given;
  const { ownerId } = caller.audience;
  if (ownerId === null) refuse("forbidden", "the portal link names destinations, not an owner: nothing can be added");
  return given == null || given === ownerId ? ownerId : refuse("forbidden", "ownerId: is set by the portal link");
}

/** Throws a Refusal (forbidden) where a visitor of the portal would change a thing that is not its own owner's. */
export function requireOwnersOwn(caller: Caller, { ownerId }: { readonly ownerId: string | null }, name: string): void {
  if (!isPortal(caller)) return;
  const { audience } = caller;
  if (audience.ownerId === null || ownerId !== audience.ownerId) {
    refuse("forbidden", `the ${name} is not one of the owner that the portal link names`);
  }
}

/** Throws a Refusal (rejected) where a visitor of the portal has as many destinations as a link can name. */
export function requireRoom(caller: Caller): void {
  if (isPortal(caller) && caller.audience.destinationIds.size >= mostNamed) {
    refuse("rejected", `the portal has ${mostNamed} destinations, which is the most; delete one`);
  }
}

/** Throws a Refusal (forbidden) where a visitor of the portal would change the owner of a thing. */
export function requireSameOwner(caller: Caller, given: string | null | undefined, ownerId: string | null): void {
  const isOther = given !== undefined && given !== ownerId;
  if (isPortal(caller) && isOther) refuse("forbidden", "ownerId: is set by the portal link");
}

/** Which destinations a query is about; all of the tenant's by default. */
export interface DestinationChoice {
  readonly destinationUrlId?: string | undefined;
  /** Any of them. */
  readonly destinationUrlIds?: readonly string[] | undefined;
}

/** The destinations that the caller's query may be about. Refuses (not-found) any other one of a filter. */
export function withinAudience<Filter extends DestinationChoice>(
  caller: Caller, filter: Filter,
): Filter & DestinationChoice {
  if (!isPortal(caller)) return filter;
  const { destinationIds } = caller.audience;
  const { destinationUrlId } = filter;
  if (destinationUrlId === undefined) return { ...filter, destinationUrlIds: [...destinationIds] };
  return destinationIds.has(destinationUrlId) ? filter : refuse("not-found", "destination not found");
}
