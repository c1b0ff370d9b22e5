import { streams } from "../../domain/streams.ts";
import type { Tenant, User } from "../../domain/tenant/state.ts";
import { tenants } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Reservations } from "./reservations.ts";

/** No tenant has it: what is read for an unknown email, so that it takes as long as for a known one. */
const nobodysTenant = "00000000-0000-0000-0000-000000000000";

/** The user whose email has this hash, or undefined, after the same work either way. */
export async function userByEmail(
  { reservations, aggregates }: { readonly reservations: Reservations; readonly aggregates: Aggregates },
  hash: string,
): Promise<{ readonly tenant: Tenant; readonly user: User } | undefined> {
  const holder = (await reservations.find(streams.email(hash)))?.holder;
  const { state: tenant } = await aggregates.current(tenants, holder?.tenantId ?? nobodysTenant);
  const user = tenant?.users.get(holder?.userId ?? "");
  return tenant && user?.emailHash === hash ? { tenant, user } : undefined;
}
