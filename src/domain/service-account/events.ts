import { at, fact, type EventsOf } from "../fact.ts";
import type { Role } from "../roles.ts";
import { anyText, list, nullable, oneOf, text, time, uuid } from "../schema.ts";
import type { Scope } from "../scopes.ts";

const serviceRoles = ["Viewer", "Developer", "Admin"] as const satisfies readonly Role[];
/** A role that a service account can have. */
export type ServiceRole = (typeof serviceRoles)[number];

const ids = { serviceAccountId: uuid(), tenantId: uuid(), at };
const told = ["serviceAccountId", "tenantId", "at"] as const;

/** Facts of a `serviceAccount-<id>` stream, those of its keys too. A key itself is stored nowhere, only its SHA-256. */
export const serviceAccountFacts = {
  ServiceAccountCreated: fact({
    data: { ...ids, name: text(), role: oneOf(serviceRoles) },
    meaning: "The service account was created.",
    words: "created the service account “{name}” with the role {role}",
    shown: [...told, "name", "role"],
    audit: "serviceAccount",
    sets: { status: "Active" },
  }),
  ServiceAccountRenamed: fact({
    data: { ...ids, name: text() },
    meaning: "The service account was renamed.",
    words: "renamed the service account to “{name}”",
    shown: [...told, "name"],
    audit: "serviceAccount",
  }),
  ServiceAccountRoleChanged: fact({
    data: { ...ids, from: oneOf(serviceRoles), role: oneOf(serviceRoles) },
    meaning: "The role of the service account changed. It counts for its keys at once.",
    words: "changed the service account's role from {from} to {role}",
    shown: [...told, "from", "role"],
    audit: "serviceAccount",
  }),
  ServiceAccountActivated: fact({
    data: ids,
    meaning: "The service account was activated: its keys work again.",
    words: "activated the service account",
    shown: told,
    audit: "serviceAccount",
    sets: { status: "Active" },
  }),
  ServiceAccountDeactivated: fact({
    data: ids,
    meaning: "The service account was deactivated: its keys give 401.",
    words: "deactivated the service account",
    shown: told,
    audit: "serviceAccount",
    sets: { status: "Inactive" },
  }),
  // The facts before it revoked all keys.
  ServiceAccountDeleted: fact({
    data: ids,
    meaning: "The service account was deleted, after its keys.",
    words: "deleted the service account",
    shown: told,
    audit: "serviceAccount",
    sets: { status: "Deleted" },
  }),
  ServiceKeyIssued: fact({
    data: {
      ...ids, keyId: uuid(), name: text(), keyHash: text("SHA-256 of the key."), prefix: anyText(), last4: anyText(),
      scopes: nullable(
        list(text<Scope>()),
        "What the key is limited to; null where it may do all that the role may. A scope that a reader does not "
          + "know grants nothing.",
      ),
      expiresAt: nullable(time()),
    },
    meaning: "A key of the service account was issued.",
    words: [
      "created the service key “{name}” ({prefix}…{last4}), until {expiresAt}",
      "created the service key “{name}” ({prefix}…{last4}), without an end",
    ],
    shown: [...told, "keyId", "name", "prefix", "last4", "scopes", "expiresAt"],
    audit: "serviceAccount",
  }),
  ServiceKeyRevoked: fact({
    data: { ...ids, keyId: uuid(), keyHash: text("SHA-256 of the key.") },
    meaning: "A key of the service account was deleted.",
    words: "deleted a service key",
    shown: [...told, "keyId"],
    audit: "serviceAccount",
  }),
};
/** One of {@link serviceAccountFacts}. */
export type ServiceAccountEvent = EventsOf<typeof serviceAccountFacts>;
