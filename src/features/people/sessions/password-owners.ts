import { clientNetwork } from "../../../kernel/domain/ipv6.ts";

/** The owner of the passwords that a tenant's users have checked and hashed. */
export function tenantOwner(tenantId: string): string {
  return `tenant:${tenantId}`;
}

/** The owner of the passwords that come from an address with nobody signed in: its network ({@link clientNetwork}). */
export function addressOwner(address: string): string {
  return `address:${clientNetwork(address)}`;
}
