import changePassword from "../../../../schemas/requests/change-password.json" with { type: "json" };
import login from "../../../../schemas/requests/login.json" with { type: "json" };
import { isPortal } from "../../../kernel/callers/caller.ts";
import { personCookies } from "../../../kernel/callers/session-cookies.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { access, mayCall, usersOnly } from "../../../kernel/operations/access.ts";
import { json, nothing, problem } from "../../../kernel/operations/description.ts";
import { open, sessionOf, signedIn, type Operation } from "../../../kernel/operations/operation.ts";
import { browserSession, me, password, session } from "../../examples.ts";
import type { Services } from "../../services.ts";
import type { UserView } from "../users/queries.ts";
import type { IssuedToken } from "./sessions.ts";

const signedInUser = usersOnly("Viewer");
const everyone = access("Viewer", "any");
const setsCookie = {
  "Set-Cookie": { description: "The session's cookie.", required: true, schema: { type: "string" } },
};

/** Sessions by access token, and by the cookie of a browser; `operations`: all, for those of the caller. */
export function sessionOperations(
  { login: logins, sessions, queries }: Services, operations: () => readonly Operation[],
): Operation[] {
  return [
    open({
      id: "login",
      route: "POST /api/v1/auth/login",
      tag: "Sessions",
      summary: "Log in",
      description:
        "Returns an access token for the `Authorization` header. A token stops working at once when it is logged " +
        "out, and when the password, role or status of its user changes or the user is deleted.",
      body: login,
      examples: { owner: { email: "owner@example.com", password } },
      answers: {
        200: json("session", "The session.", session),
        429: problem(
          "10 attempts within 5 minutes have failed for this address, or IPv6 /64 network, or for this email " +
          "(`RELAY_LIMIT_LOGIN_FAILURES`). The password was not looked at.",
          "too many failed logins; try again later",
        ),
      },
    }, async ({ address }, read) => {
      const { email, password } = await read();
      const { token: accessToken, expiresIn, expiresAt, user } = await logins.login(email, password, address);
      return { status: 200, body: { accessToken, expiresIn, expiresAt, tokenType: "Bearer" as const, user } };
    }),
    signedIn({
      id: "logout",
      route: "POST /api/v1/auth/logout",
      access: signedInUser,
      tag: "Sessions",
      summary: "Log out",
      description: "Ends the session of the token that is sent.",
      answers: { 204: nothing("The token has stopped working.") },
    }, async (call) => {
      await sessions.revoke(sessionOf(call), call.origin);
      return { status: 204 };
    }),
    open({
      id: "openSession",
      route: "POST /api/v1/auth/session",
      tag: "Sessions",
      summary: "Sign in, in a browser",
      description:
        "As `login`, with the session in the cookie `__Host-relay`, which scripts cannot read. It counts only for " +
        "requests with `Sec-Fetch-Site: same-origin`, which browsers set, and only without `Authorization`. A page " +
        "of `http:` at localhost, 127.0.0.1 or [::1] gets the cookie `relay-local`, which counts at these hosts only.",
      body: login,
      examples: { owner: { email: "owner@example.com", password } },
      answers: {
        200: { ...json("browser-session", "The session.", browserSession), headers: setsCookie },
        400: problem(
          "The body is not valid, or the page's origin is `http:` at another host, where browsers drop the cookie.",
          "email: is required",
          "Origin: must be https:, since browsers drop the cookie here; use TLS, or a tunnel to localhost",
        ),
        429: problem("As for `login`, and counted together with it.", "too many failed logins; try again later"),
      },
    }, async ({ address, headers }, read) => {
      const { email, password } = await read();
      const name = personCookies.nameFor(headers);
      const { user, ...token } = await logins.signIn(email, password, address);
      return opened(name, token, user);
    }),
    signedIn({
      id: "renewSession",
      route: "POST /api/v1/auth/session/renewal",
      access: signedInUser,
      security: "cookie",
      tag: "Sessions",
      summary: "Renew a browser's session",
      description:
        "Gives the session another cookie and ends the old one; renewals that race it get cookies of the same " +
        "session. A session lasts 30 days after the password at most, and ends as an access token does when its user " +
        "changes.",
      answers: { 200: { ...json("browser-session", "The session.", browserSession), headers: setsCookie } },
    }, async (call) => {
      const { headers, origin } = call;
      const session = sessionOf(call);
      const user = await queries.users.get(session, session.userId);
      const token = await sessions.renew(session, origin);
      return opened(personCookies.of(headers)?.name ?? personCookies.nameFor(headers), token, user);
    }),
    signedIn({
      id: "endSession",
      route: "DELETE /api/v1/auth/session",
      access: signedInUser,
      tag: "Sessions",
      summary: "Sign out",
      description: "Ends the session with all its cookies, and removes the browser's.",
      answers: { 204: { ...nothing("The session is over."), headers: setsCookie } },
    }, async (call) => {
      await sessions.revoke(sessionOf(call), call.origin);
      return { status: 204, headers: { "Set-Cookie": personCookies.ended } };
    }),
    signedIn({
      id: "changePassword",
      route: "POST /api/v1/auth/password",
      access: signedInUser,
      tag: "Sessions",
      summary: "Change one's own password",
      description:
        "The user's other sessions and tokens end at once; that of the request goes on. A wrong `currentPassword` " +
        "counts as a failed login does, and its answer takes as long.",
      body: changePassword,
      examples: { change: { currentPassword: password, newPassword: "another good password" } },
      answers: {
        204: nothing("The new password holds."),
        400: problem("The body is not valid, or the password is wrong.", "currentPassword: is wrong"),
        429: problem("As for `login`, and counted together with it.", "too many failed logins; try again later"),
      },
    }, async (call) => {
      await logins.changePassword(sessionOf(call), call.input, call.origin, call.address);
      return { status: 204 };
    }),
    signedIn({
      id: "getMe",
      route: "GET /api/v1/me",
      access: everyone,
      tag: "Sessions",
      summary: "Get the caller",
      description:
        "The caller, its tenant, and the operations that it may call on at least one record. The record can " +
        "still forbid it: a Viewer, for example, may change no user but itself.",
      answers: { 200: json("me", "The caller.", me) },
    }, async ({ caller }) => {
      if (isPortal(caller)) refuse("not-found", "not found");
      const own = operations().filter(({ security, access: needed }) =>
        security === "none" || (needed !== undefined && mayCall(caller, needed)));
      return { status: 200, body: { ...(await queries.me.get(caller)), operations: own.map(({ id }) => id) } };
    }),
  ];
}

function opened(name: string, { token, expiresIn, expiresAt }: IssuedToken, user: UserView) {
  const headers = { "Set-Cookie": personCookies.issued(name, token, expiresIn) };
  return { status: 200 as const, headers, body: { user, expiresAt } };
}
