import type { Scope } from "../scopes.ts";
import type { Timestamp } from "../time.ts";
import type { ServiceAccountEvent, ServiceRole } from "./events.ts";

/** A service account as folded from its own stream. */
export interface ServiceAccount {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly role: ServiceRole;
  /** As a person set it; the keys of an inactive one open nothing. */
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
  /** SHA-256 of the whole key, hex. */
  readonly keyHash: string;
  /** null: the key may do all that the role may. */
  readonly scopes: readonly Scope[] | null;
  /** The key is not valid from this time on; null: it is until it is revoked. */
  readonly expiresAt: Timestamp | null;
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
      return { ...state, name: event.data.name, updatedAt };
    case "ServiceAccountRoleChanged":
      return { ...state, role: event.data.role, updatedAt };
    case "ServiceAccountActivated":
      return { ...state, active: true, updatedAt };
    case "ServiceAccountDeactivated":
      return { ...state, active: false, updatedAt };
    case "ServiceAccountDeleted":
      return { ...state, deleted: true, updatedAt };
    case "ServiceKeyIssued": {
      const { keyId: id, keyHash, scopes, expiresAt } = event.data;
      return { ...state, keys: new Map(state.keys).set(id, { id, keyHash, scopes, expiresAt }) };
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
