/** The owner of the passwords that a tenant's users have checked and hashed. */
export function tenantOwner(tenantId: string): string {
  return `tenant:${tenantId}`;
}

/**
 * The owner of the passwords that come from an address with nobody signed in; `address` in its one spelling. The /64 of
 * an IPv6 address is one owner: nobody gets less than that, and has all addresses in it.
 */
export function addressOwner(address: string): string {
  if (!address.includes(":")) return `address:${address}`;
  const [before = [], after = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array<string>(8 - before.length - after.length).fill("0");
  return `address:${[...before, ...zeros, ...after].slice(0, 4).join(":")}`;
}
