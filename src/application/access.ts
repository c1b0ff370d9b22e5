import { refuse } from "../domain/refusal.ts";
import type { Tenant } from "../domain/tenant/state.ts";
import { tenants } from "./aggregate-types.ts";
import type { Aggregates } from "./aggregates.ts";
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
