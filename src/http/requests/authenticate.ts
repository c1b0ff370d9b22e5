import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { requireOwnPage, sessionCookie } from "../../features/people/sessions/session-cookie.ts";
import type { Services } from "../../features/services.ts";
import { type Session, isService, type ServiceCaller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";

/**
 * The session or service account behind `Authorization: Bearer <token>`; without that header, the session behind the
 * cookie of a browser. Throws a Refusal: unauthenticated; forbidden for a cookie that another site's page makes a
 * browser send; precondition-failed where `X-Relay-Principal` names another caller.
 */
export async function authenticate(
  { headers }: IncomingMessage, credentials: Pick<Services, "sessions" | "serviceKeys">,
): Promise<Session | ServiceCaller> {
  const caller = await callerOf(headers, credentials);
  const principal = headers["x-relay-principal"];
  const id = isService(caller) ? caller.serviceAccountId : caller.userId;
  if (principal !== undefined && String(principal).toLowerCase() !== id) {
    refuse("precondition-failed", "X-Relay-Principal: is not the id of this request's caller");
  }
  return caller;
}

async function callerOf(
  headers: IncomingHttpHeaders, { sessions, serviceKeys }: Pick<Services, "sessions" | "serviceKeys">,
): Promise<Session | ServiceCaller> {
  const cookie = headers.authorization === undefined ? sessionCookie(headers) : undefined;
  if (cookie !== undefined) {
    const session = await sessions.authenticateBrowser(cookie.token);
    requireOwnPage(headers);
    return session;
  }
  const [, token] = /^Bearer +([^\s,]+)$/i.exec(headers.authorization ?? "") ?? [];
  if (token === undefined) {
    refuse("unauthenticated", "Authorization: must be Bearer and an access token or a service key");
  }
  if (token.startsWith("rsk_")) return serviceKeys.authenticate(token);
  return sessions.authenticate(token);
}
