/**
 * The scopes of service keys. A key without scopes may do all that its role may; one with scopes only what they name.
 * `audit:read` covers the audit, all histories and the story of an event.
 */
export const scopes = [
  "events:read",
  "events:write",
  "destinations:read",
  "destinations:write",
  "senders:read",
  "senders:write",
  "users:read",
  "users:write",
  "audit:read",
  "portal:write",
] as const;
/** One of {@link scopes}. */
export type Scope = (typeof scopes)[number];

/** Whether a key with these scopes has the one that is needed: a write scope includes the read scope beside it. */
export function grants(given: readonly Scope[], needed: Scope): boolean {
  return given.includes(needed) || given.some((scope) => scope === needed.replace(/:read$/, ":write"));
}
