import { streams } from "../../../kernel/domain/streams.ts";
import { nilUuid } from "../../../kernel/domain/uuid.ts";
import type { Aggregates } from "../../../kernel/log/aggregates.ts";
import { tenants } from "../../aggregate-types.ts";
import type { Tenant, User } from "../../tenants/facts.ts";
import type { Reservations } from "../../tenants/reservations/reservations.ts";

/** The user whose email has this hash, or undefined. It takes longer where the tenant is not in memory yet. */
export async function userByEmail(
  { reservations, aggregates }: { readonly reservations: Reservations; readonly aggregates: Aggregates },
  hash: string,
): Promise<{ readonly tenant: Tenant; readonly user: User } | undefined> {
  const holder = (await reservations.find(streams.email(hash)))?.holder;
  // For an unknown email a tenant that does not exist is read, in the time of a known one in memory.
  const { state: tenant } = await aggregates.current(tenants, holder?.tenantId ?? nilUuid);
  const user = tenant?.users.get(holder?.userId ?? "");
  return tenant && user?.emailHash === hash ? { tenant, user } : undefined;
}
