import { clientNetwork } from "../domain/ipv6.ts";

/**
 * bcrypt, off the request thread. Calls wait by `owner`: owners take turns, and when too many calls wait, the owner
 * with the most of them loses its newest call, so that no owner keeps others from being served.
 */
export interface Passwords {
  /**
   * The hash to store (`$2b$…`, 60 characters), with a fresh salt. Throws RangeError for a text that
   * passwordProblem (see domain/tenant/password) refuses, and, as {@link matches} does, a Refusal (unavailable) when
   * too many passwords wait and no other owner has more of them.
   */
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
