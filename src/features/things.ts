import { apiKeys } from "../../projections/api-keys/api-keys.ts";
import { destinations } from "../../projections/destinations/destinations.ts";
import { invites } from "../../projections/invites/invites.ts";
import { portalLinks } from "../../projections/portal-links/portal-links.ts";
import { senders } from "../../projections/senders/senders.ts";
import { serviceAccounts } from "../../projections/service-accounts/service-accounts.ts";
import { subscriptions } from "../../projections/subscriptions/subscriptions.ts";
import { tenants } from "../../projections/tenants/tenants.ts";
import { users } from "../../projections/users/users.ts";
import { access, type Access } from "../kernel/operations/access.ts";
import type { CollectionDefinition, Document } from "../kernel/ports/read-models.ts";

/** Things that people know by a name. */
interface NamedThings {
  readonly collection: CollectionDefinition;
  /** The fields that may have the name, the best first. */
  readonly fields: readonly [string, ...string[]];
  /** Who may list them. */
  readonly access: Access;
}

/** By kind, the things that people know by a name. */
export const things = {
  tenant: { collection: tenants, fields: ["name"], access: access("Viewer", "any") },
  destination: { collection: destinations, fields: ["name", "url"], access: access("Viewer", "destinations:read") },
  sender: { collection: senders, fields: ["name"], access: access("Viewer", "senders:read") },
  subscription: { collection: subscriptions, fields: ["ownerId"], access: access("Viewer", "senders:read") },
  user: { collection: users, fields: ["email"], access: access("Viewer", "users:read") },
  invite: { collection: invites, fields: ["email"], access: access("Viewer", "users:read") },
  apiKey: { collection: apiKeys, fields: ["name"], access: access("Viewer", null) },
  serviceAccount: { collection: serviceAccounts, fields: ["name"], access: access("Viewer", null) },
  portalLink: {
    collection: portalLinks, fields: ["label", "ownerId"], access: access("Admin", "portal:write", "Developer"),
  },
} as const satisfies Readonly<Record<string, NamedThings>>;
/** A kind of things that people know by a name. */
export type ThingKind = keyof typeof things;

/** The name of a document of such things; null where it has none. */
export function nameOf({ fields }: Pick<NamedThings, "fields">, document: Document): string | null {
  return (fields.map((field) => document[field]).find((name) => name !== null) ?? null) as string | null;
}
