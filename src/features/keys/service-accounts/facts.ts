import { examples } from "../../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../../kernel/domain/fact.ts";
import type { Role, Scope } from "../../../kernel/domain/roles.ts";
import { anyText, list, nullable, oneOf, text, time, uuid } from "../../../kernel/domain/schema.ts";
import { withChanges } from "../../../kernel/domain/settings.ts";
import { streams } from "../../../kernel/domain/streams.ts";
import type { Timestamp } from "../../../kernel/domain/time.ts";
import type { AggregateType } from "../../../kernel/log/aggregates.ts";
import { lifetimeOf, type Lifetime } from "../rotation.ts";

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
    creates: true,
    sets: { status: "Active" },
  }),
  ServiceAccountRenamed: fact({
    data: { ...ids, name: text() },
    meaning: "The service account was renamed.",
    words: "renamed the service account to “{name}”",
    shown: [...told, "name"],
    changes: ["name"],
    audit: "serviceAccount",
  }),
  ServiceAccountRoleChanged: fact({
    data: { ...ids, from: oneOf(serviceRoles), role: oneOf(serviceRoles) },
    meaning: "The role of the service account changed. It counts for its keys at once.",
    words: "changed the service account's role from {from} to {role}",
    shown: [...told, "from", "role"],
    changes: ["role"],
    audit: "serviceAccount",
    example: {
      serviceAccountId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e10", tenantId: examples.tenantId, from: "Viewer",
      role: "Developer", at: examples.at,
    },
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
  ServiceKeyRotated: fact({
    data: {
      ...ids, keyId: uuid(), successorId: uuid("The key issued in its place."),
      expiresAt: time("When the rotated key ends."),
    },
    meaning: "A key of the service account was rotated: another one was issued in its place, and it ends itself.",
    words: "rotated a service key, which works until {expiresAt}",
    shown: [...told, "keyId", "successorId", "expiresAt"],
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
export type ServiceAccountEvent = EventsOf<typeof serviceAccountFacts>;

/** The settings of a service account, each with a fact that changes it. */
export interface ServiceAccountSettings {
  readonly name: string;
  readonly role: ServiceRole;
}

/** A service account as folded from its own stream. */
export interface ServiceAccount extends ServiceAccountSettings {
  readonly id: string;
  readonly tenantId: string;
  readonly active: boolean;
  readonly deleted: boolean;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** The keys that are not revoked, by id. */
  readonly keys: ReadonlyMap<string, ServiceKey>;
}

/** A key of a service account. */
export interface ServiceKey {
  readonly id: string;
  readonly name: string;
  readonly keyHash: string;
  /** null: the key may do all that the role may. */
  readonly scopes: readonly Scope[] | null;
  /** The key is not valid from this time on; null: it is until it is revoked. */
  readonly expiresAt: Timestamp | null;
  readonly lifetimeMs: Lifetime;
}

/** Undefined before it was created; a deleted one stays, marked, and is never brought back. */
export type ServiceAccountState = ServiceAccount | undefined;

/** Folds one fact in. */
export function evolve(state: ServiceAccountState, event: ServiceAccountEvent): ServiceAccountState {
  if (event.type === "ServiceAccountCreated") {
    const { serviceAccountId: id, at, ...settings } = event.data;
    return { ...settings, id, active: true, deleted: false, createdAt: at, updatedAt: at, keys: new Map() };
  }
  if (!state) return state;
  const updatedAt = event.data.at;
  switch (event.type) {
    case "ServiceAccountRenamed":
    case "ServiceAccountRoleChanged":
      return { ...withChanges(serviceAccountFacts, state, event), updatedAt };
    case "ServiceAccountActivated":
      return { ...state, active: true, updatedAt };
    case "ServiceAccountDeactivated":
      return { ...state, active: false, updatedAt };
    case "ServiceAccountDeleted":
      return { ...state, deleted: true, updatedAt };
    case "ServiceKeyIssued": {
      const { keyId: id, name, keyHash, scopes, expiresAt } = event.data;
      const key = { id, name, keyHash, scopes, expiresAt, lifetimeMs: lifetimeOf(event.data) };
      return { ...state, keys: new Map(state.keys).set(id, key) };
    }
    case "ServiceKeyRotated": {
      const { keyId, expiresAt } = event.data;
      const key = state.keys.get(keyId);
      return key ? { ...state, keys: new Map(state.keys).set(keyId, { ...key, expiresAt }) } : state;
    }
    case "ServiceKeyRevoked":
      return { ...state, keys: new Map([...state.keys].filter(([id]) => id !== event.data.keyId)) };
  }
}

/** The key of this hash, if it may be used at `now` (ISO 8601 UTC). */
export function usableKey(account: ServiceAccountState, keyHash: string, now: Timestamp): ServiceKey | undefined {
  if (!account?.active || account.deleted) return undefined;
  for (const key of account.keys.values()) {
    if (key.keyHash === keyHash) return key.expiresAt === null || key.expiresAt > now ? key : undefined;
  }
  return undefined;
}

export const serviceAccounts: AggregateType<ServiceAccount, ServiceAccountEvent> = {
  category: "serviceAccount",
  stream: streams.serviceAccount,
  evolve,
};
