import type { IncomingMessage } from "node:http";
import type { Session, Sessions } from "../../application/accounts/sessions.ts";
import { refuse } from "../../domain/refusal.ts";
import { requireOwnPage, sessionCookie } from "./session-cookie.ts";

/**
 * The session behind `Authorization: Bearer <token>`; without that header, behind the cookie of a browser. Throws a
 * Refusal (unauthenticated, or forbidden for a cookie that another site's page makes a browser send).
 */
export async function authenticate({ headers }: IncomingMessage, sessions: Sessions): Promise<Session> {
  const cookie = headers.authorization === undefined ? sessionCookie(headers) : undefined;
  if (cookie !== undefined) {
    const session = await sessions.authenticateBrowser(cookie.token);
    requireOwnPage(headers);
    return session;
  }
  const [, token] = /^Bearer +([^\s,]+)$/i.exec(headers.authorization ?? "") ?? [];
  if (token === undefined) refuse("unauthenticated", "Authorization: must be Bearer and an access token");
  return sessions.authenticate(token);
}
