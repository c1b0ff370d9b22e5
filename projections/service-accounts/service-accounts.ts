import { serviceAccountFacts, type ServiceRole } from "../../src/features/keys/service-accounts/facts.ts";
import type { Scope } from "../../src/kernel/domain/roles.ts";
import { tenantCounter, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, remove, set, settingHandlers, type Projection } from "../projection.ts";

/** A service account as the API shows it, except for the wording of its status. */
export type ServiceAccountDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly role: ServiceRole;
  readonly active: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** A key of a service account as the API lists it. */
export type ServiceKeyDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly serviceAccountId: string;
  readonly name: string;
  /** `rsk_`; only this and `last4` of the key are ever shown again. */
  readonly prefix: string;
  readonly last4: string;
  /** null: the key may do all that the role may. */
  readonly scopes: readonly Scope[] | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
};

/** A service account by the SHA-256 (hex) of a key. */
export type ServiceKeyHashDocument = { readonly keyHash: string; readonly serviceAccountId: string };

export const serviceAccountSortFields = ["id", "name", "createdAt", "updatedAt"] as const;
export const serviceKeySortFields = ["id", "name", "createdAt", "expiresAt"] as const;

/** Service accounts that are not deleted. */
export const serviceAccounts: Collection<ServiceAccountDocument> = {
  name: "serviceAccounts",
  key: "id",
  fields: {
    id: "id", tenantId: "id", name: "text", role: "text", active: "boolean", createdAt: "time", updatedAt: "time",
  },
  indexes: serviceAccountSortFields.map((sort) => ["tenantId" as const, sort]),
};

/** Keys that are not revoked. */
export const serviceKeys: Collection<ServiceKeyDocument> = {
  name: "serviceKeys",
  key: "id",
  fields: {
    id: "id",
    tenantId: "id",
    serviceAccountId: "id",
    name: "text",
    prefix: "text",
    last4: "text",
    scopes: "json",
    createdAt: "time",
    expiresAt: "time",
  },
  indexes: serviceKeySortFields.map((sort) => ["serviceAccountId" as const, sort]),
};

/** Hashes of keys that are not revoked. */
export const serviceKeyHashes: Collection<ServiceKeyHashDocument> = {
  name: "serviceKeyHashes",
  key: "keyHash",
  fields: { keyHash: "text", serviceAccountId: "id" },
  indexes: [],
};

/** The counter of a service account's keys. */
export function keyCounter(serviceAccountId: string): string {
  return `${serviceKeys.name}/${serviceAccountId}`;
}

/** Lists service accounts and their keys; the account's stream tells if a key is valid. */
export const serviceAccountsProjection: Projection = {
  name: "serviceAccounts",
  version: 2,
  collections: [serviceAccounts, serviceKeys, serviceKeyHashes],
  on: {
    ServiceAccountCreated: ({ serviceAccountId: id, tenantId, name, role, at }) => [
      create(serviceAccounts, { id, tenantId, name, role, active: true, createdAt: at, updatedAt: at }),
      add(tenantCounter(serviceAccounts, tenantId), 1),
    ],
    ...settingHandlers(serviceAccountFacts, serviceAccounts, "serviceAccountId"),
    ServiceAccountActivated: ({ serviceAccountId, at }) => [
      set(serviceAccounts, serviceAccountId, { active: true, updatedAt: at }),
    ],
    ServiceAccountDeactivated: ({ serviceAccountId, at }) => [
      set(serviceAccounts, serviceAccountId, { active: false, updatedAt: at }),
    ],
    ServiceAccountDeleted: ({ serviceAccountId, tenantId }) => [
      remove(serviceAccounts, serviceAccountId),
      add(tenantCounter(serviceAccounts, tenantId), -1),
    ],
    ServiceKeyIssued: ({ keyId: id, serviceAccountId, tenantId, name, keyHash, prefix, last4, ...rest }) => [
      create(serviceKeys, {
        id, tenantId, serviceAccountId, name, prefix, last4,
        scopes: rest.scopes, createdAt: rest.at, expiresAt: rest.expiresAt,
      }),
      add(keyCounter(serviceAccountId), 1),
      create(serviceKeyHashes, { keyHash, serviceAccountId }),
    ],
    ServiceKeyRotated: ({ keyId, expiresAt }) => [set(serviceKeys, keyId, { expiresAt })],
    ServiceKeyRevoked: ({ keyId, keyHash, serviceAccountId }) => [
      remove(serviceKeys, keyId),
      add(keyCounter(serviceAccountId), -1),
      remove(serviceKeyHashes, keyHash),
    ],
  },
};
