import { AsyncLocalStorage } from "node:async_hooks";
import type { Actor } from "../domain/domain-event.ts";
import type { Acting, PortalRight, Scope } from "../domain/roles.ts";

/** The signed-in user, the service account, or the visitor of the portal, on whose behalf something is asked. */
export type Caller = UserCaller | ServiceCaller | PortalCaller;

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
  readonly expiresAt: string | null;
}

/** A visitor of the portal, whom a link let in. */
export interface PortalCaller extends Principal {
  readonly portalLinkId: string;
  readonly may: readonly PortalRight[];
  readonly audience: Audience;
  readonly expiresAt: string;
}

/** The destinations of a portal link. */
export interface Audience {
  /** The customer whose destinations it names; null if it names them by their ids. */
  readonly ownerId: string | null;
  readonly destinationIds: ReadonlySet<string>;
}

/** The destinations that a portal link to a customer names at most. */
export const mostNamed = 1_000;

/** Whether the caller is a visitor of the portal. */
export function isPortal(caller: Caller): caller is PortalCaller {
  return "portalLinkId" in caller;
}

/** Whether the caller is a service account. */
export function isService(caller: Caller): caller is ServiceCaller {
  return "serviceAccountId" in caller;
}

/** The caller as the author of facts. */
export function actorOf(caller: Caller): Actor & { readonly id: string } {
  if (isService(caller)) return { type: "serviceAccount", id: caller.serviceAccountId, keyId: caller.keyId };
  if (isPortal(caller)) return { type: "portalLink", id: caller.portalLinkId };
  return { type: "user", id: caller.userId, role: caller.role };
}

/** The id of the caller, as `X-Relay-Principal` names it. */
export function callerIdOf(caller: Caller): string {
  return actorOf(caller).id;
}

/** A signed-in user and the token that proves it. */
export interface Session extends UserCaller {
  readonly tokenId: string;
  /** Shared by all tokens of a browser's session. Of an access token: the token's id. */
  readonly sessionId: string;
  readonly expiresAt: string;
  readonly sessionVersion: number;
  /** Of a browser's session: when its user gave the password, ISO 8601 UTC. Of an access token: null. */
  readonly passwordAt: string | null;
}

/** A caller with the credential that it showed. */
export type SignedIn = Session | ServiceCaller | PortalCaller;

/** The ids of the credential that a caller showed: of a key or link, or of a token and its session. */
export function credentialIdsOf(caller: SignedIn): readonly [string, ...string[]] {
  if (isService(caller)) return [caller.keyId];
  return isPortal(caller) ? [caller.portalLinkId] : [caller.sessionId, caller.tokenId];
}

/** The caller of a request has gone: nobody waits for its answer. */
export class CallerGone extends Error {
  override readonly name = "CallerGone";

  constructor() {
    super("the caller has gone");
  }
}

const callers = new AsyncLocalStorage<AbortSignal>();

/** Does the work of a request: {@link callerCheck} is of its caller. `gone` fires once the caller has gone. */
export function forCaller<Result>(gone: AbortSignal, work: () => Result): Result {
  return callers.run(gone, work);
}

/** A check to call between pieces of the work under way: it throws CallerGone once the caller has gone. */
export function callerCheck(): () => void {
  const gone = callers.getStore();
  return () => {
    if (gone?.aborted) throw new CallerGone();
  };
}
