import type { IncomingMessage } from "node:http";
import type { Session, Sessions } from "../../application/accounts/sessions.ts";
import { refuse } from "../../domain/refusal.ts";

/** The session behind `Authorization: Bearer <token>`. Throws a Refusal (unauthenticated). */
export async function authenticate(request: IncomingMessage, sessions: Sessions): Promise<Session> {
  const [, token] = /^Bearer +([^\s,]+)$/i.exec(request.headers.authorization ?? "") ?? [];
  if (token === undefined) refuse("unauthenticated", "Authorization: must be Bearer and an access token");
  return sessions.authenticate(token);
}
