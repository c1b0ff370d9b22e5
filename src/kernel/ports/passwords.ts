import { clientNetwork } from "../domain/ipv6.ts";

/** bcrypt, off the request thread. Owners take turns; when too many calls wait, the owner with the most loses one. */
export interface Passwords {
  /** The hash to store (`$2b$…`), freshly salted. Throws a RangeError, and a Refusal as {@link matches} does. */
  hash(password: string, owner: string): Promise<string>;
  /** Takes the same time for any hash, including a made-up one and those of a lower cost than the present one. */
  matches(password: string, hash: string, owner: string): Promise<boolean>;
  /** A hash that no password matches, for the attempts of unknown users. */
  readonly nobody: string;
}

/** The owner of the passwords that a tenant's users have checked and hashed. */
export function tenantOwner(tenantId: string): string {
  return `tenant:${tenantId}`;
}

/** The owner of the passwords that come from an address with nobody signed in: its network ({@link clientNetwork}). */
export function addressOwner(address: string): string {
  return `address:${clientNetwork(address)}`;
}
