import type { Actor } from "../domain/domain-event.ts";
import type { Acting } from "../domain/roles.ts";
import type { Scope } from "../domain/scopes.ts";

/** The signed-in user, or the service account, on whose behalf something is asked. */
export type Caller = UserCaller | ServiceCaller;

interface Principal extends Acting {
  readonly tenantId: string;
}

/** A signed-in user. */
export interface UserCaller extends Principal {
  readonly userId: string;
}

/** A service account that showed one of its keys. */
export interface ServiceCaller extends Principal {
  readonly serviceAccountId: string;
  readonly name: string;
  readonly keyId: string;
  /** What the key is limited to; null: it may do all that the role may. */
  readonly scopes: readonly Scope[] | null;
  /** When the key stops working, ISO 8601 UTC; null for never. */
  readonly expiresAt: string | null;
}

/** Whether the caller is a service account. */
export function isService(caller: Caller): caller is ServiceCaller {
  return "serviceAccountId" in caller;
}

/** The caller as the author of facts. */
export function actorOf(caller: Caller): Actor {
  if (isService(caller)) return { type: "serviceAccount", id: caller.serviceAccountId, keyId: caller.keyId };
  return { type: "user", id: caller.userId, role: caller.role };
}

/** A signed-in user and the token that proves it. */
export interface Session extends UserCaller {
  readonly tokenId: string;
  /** Shared by all tokens of a browser's session. Of an access token: the token's id. */
  readonly sessionId: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
  /** The user's session version that the token was made under. */
  readonly sessionVersion: number;
  /** Of a browser's session: when its user gave the password, ISO 8601 UTC. Of an access token: null. */
  readonly passwordAt: string | null;
}
