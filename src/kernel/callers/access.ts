import { tenants } from "../../features/aggregate-types.ts";
import type { Tenant } from "../../features/tenants/facts.ts";
import type { DomainEvent } from "../domain/domain-event.ts";
import { refuse } from "../domain/refusal.ts";
import type { Aggregates, AggregateType } from "../log/aggregates.ts";
import type { Caller } from "./caller.ts";

/**
 * The caller's own tenant, under the id it named if it did. Throws a Refusal: not-found where no tenant has the id,
 * forbidden where it is another's.
 */
export async function ownTenant(aggregates: Aggregates, caller: Caller, id = caller.tenantId): Promise<Tenant> {
  const { state } = await aggregates.current(tenants, id);
  if (!state) refuse("not-found", "tenant not found");
  if (id !== caller.tenantId) refuse("forbidden", "the tenant is another account's");
  return state;
}

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

/** Throws a Refusal (forbidden) unless the thing is the caller's tenant's. */
export function requireOwn(thing: { readonly tenantId: string }, caller: Caller, name: string): void {
  if (thing.tenantId !== caller.tenantId) refuse("forbidden", `the ${name} belongs to another tenant`);
}
