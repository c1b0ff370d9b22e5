import { wordsOf } from "../../domain/ipv6.ts";

/** The owner of the passwords that a tenant's users have checked and hashed. */
export function tenantOwner(tenantId: string): string {
  return `tenant:${tenantId}`;
}

/**
 * The owner of the passwords that come from an address with nobody signed in. The /64 of an IPv6 address is one owner:
 * nobody gets less than that, and has all addresses in it.
 */
export function addressOwner(address: string): string {
  if (!address.includes(":")) return `address:${address}`;
  return `address:${wordsOf(address).slice(0, 4).map((word) => word.toString(16)).join(":")}`;
}
