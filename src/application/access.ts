import type { DomainEvent } from "../domain/domain-event.ts";
import { refuse } from "../domain/refusal.ts";
import type { Tenant } from "../domain/tenant/state.ts";
import { tenants } from "./aggregate-types.ts";
import type { Aggregates, AggregateType } from "./aggregates.ts";
import type { Caller } from "./caller.ts";

/**
 * The caller's own tenant under the id it named. Throws a Refusal: not-found where no tenant has the id,
 * forbidden where it is another's.
 */
export async function ownTenant(aggregates: Aggregates, id: string, caller: Caller): Promise<Tenant> {
  const { state } = await aggregates.current(tenants, id);
  if (!state) refuse("not-found", "tenant not found");
  if (id !== caller.tenantId) refuse("forbidden", "the tenant is another account's");
  return state;
}

/** Throws a Refusal (forbidden) unless the thing is the caller's tenant's. */
export function requireOwn(thing: { readonly tenantId: string }, caller: Caller, name: string): void {
  if (thing.tenantId !== caller.tenantId) refuse("forbidden", `the ${name} belongs to another tenant`);
}

/** Throws a Refusal (not-found, forbidden) unless the thing is the caller's tenant's, or was before it was deleted. */
export async function requireOnceOwn<State extends { readonly tenantId: string }, Event extends DomainEvent>(
  aggregates: Aggregates,
  type: AggregateType<State, Event>,
  id: string,
  caller: Caller,
  name: string,
): Promise<void> {
  const { state } = await aggregates.current(type, id);
  if (!state) return refuse("not-found", `${name} not found`);
  requireOwn(state, caller, name);
}
