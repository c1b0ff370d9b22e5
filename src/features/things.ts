import { apiKeys } from "../../projections/api-keys/api-keys.ts";
import { destinations } from "../../projections/destinations/destinations.ts";
import { invites } from "../../projections/invites/invites.ts";
import { senders } from "../../projections/senders/senders.ts";
import { serviceAccounts } from "../../projections/service-accounts/service-accounts.ts";
import { tenants } from "../../projections/tenants/tenants.ts";
import { users } from "../../projections/users/users.ts";
import { access, type Access } from "../kernel/operations/access.ts";
import type { CollectionDefinition } from "../kernel/ports/read-models.ts";

/** Things that people know by a name. */
interface NamedThings {
  readonly collection: CollectionDefinition;
  /** The field that has the name. */
  readonly field: string;
  /** Who may list them. */
  readonly access: Access;
}

/** By kind, the things that people know by a name. */
export const things = {
  tenant: { collection: tenants, field: "name", access: access("Viewer", "any") },
  destination: { collection: destinations, field: "url", access: access("Viewer", "destinations:read") },
  sender: { collection: senders, field: "name", access: access("Viewer", "senders:read") },
  user: { collection: users, field: "email", access: access("Viewer", "users:read") },
  invite: { collection: invites, field: "email", access: access("Viewer", "users:read") },
  apiKey: { collection: apiKeys, field: "name", access: access("Viewer", null) },
  serviceAccount: { collection: serviceAccounts, field: "name", access: access("Viewer", null) },
} as const satisfies Readonly<Record<string, NamedThings>>;
/** A kind of things that people know by a name. */
export type ThingKind = keyof typeof things;
