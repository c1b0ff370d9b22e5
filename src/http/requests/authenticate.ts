import type { IncomingMessage } from "node:http";
import type { Session } from "../../application/accounts/sessions.ts";
import type { ServiceCaller } from "../../application/caller.ts";
import type { Services } from "../../application/services.ts";
import { refuse } from "../../domain/refusal.ts";
import { requireOwnPage, sessionCookie } from "./session-cookie.ts";

/**
 * The session or service account behind `Authorization: Bearer <token>`; without that header, the session behind the
 * cookie of a browser. Throws a Refusal (unauthenticated, or forbidden for a cookie that another site's page makes a
 * browser send).
 */
export async function authenticate(
  { headers }: IncomingMessage, { sessions, serviceKeys }: Pick<Services, "sessions" | "serviceKeys">,
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
