import { json, nothing, problem, type Descriptions } from "../description.ts";
import { browserSession, me, password, session } from "../examples.ts";

const sessionCookie = {
  "Set-Cookie": { description: "The session's cookie.", required: true, schema: { type: "string" } },
};

/** Login and logout. */
export const sessionDescriptions: Descriptions = {
  "POST /api/v1/auth/login": {
    id: "login",
    tag: "Sessions",
    summary: "Log in",
    description:
      "Returns an access token for the `Authorization` header. A token stops working at once when it is logged " +
      "out, and when the password, role or status of its user changes or the user is deleted.",
    examples: { owner: { email: "owner@example.com", password } },
    answers: {
      200: json("session", "The session.", session),
      429: problem(
        "10 attempts within 5 minutes have failed for this address, or IPv6 /64 network, or for this email " +
        "(`RELAY_LIMIT_LOGIN_FAILURES`). The password was not looked at.",
        "too many failed logins; try again later",
      ),
    },
  },
  "POST /api/v1/auth/logout": {
    id: "logout",
    tag: "Sessions",
    summary: "Log out",
    description: "Ends the session of the token that is sent.",
    answers: { 204: nothing("The token has stopped working.") },
  },
  "POST /api/v1/auth/session": {
    id: "openSession",
    tag: "Sessions",
    summary: "Sign in, in a browser",
    description:
      "As `login`, with the session in the cookie `__Host-relay`, which scripts cannot read. It counts only for " +
      "requests with `Sec-Fetch-Site: same-origin`, which browsers set, and only without `Authorization`. A page of " +
      "`http:` at localhost, 127.0.0.1 or [::1] gets the cookie `relay-local`, which counts at these hosts only.",
    examples: { owner: { email: "owner@example.com", password } },
    answers: {
      200: { ...json("browser-session", "The session.", browserSession), headers: sessionCookie },
      400: problem(
        "The body is not valid, or the page's origin is `http:` at another host, where browsers drop the cookie.",
        "email: is required",
        "Origin: must be https:, since browsers drop the cookie here; use TLS, or a tunnel to localhost",
      ),
      429: problem("As for `login`, and counted together with it.", "too many failed logins; try again later"),
    },
  },
  "POST /api/v1/auth/session/renewal": {
    id: "renewSession",
    tag: "Sessions",
    summary: "Renew a browser's session",
    description:
      "Gives the session another cookie and ends the old one; renewals that race it get cookies of the same session. " +
      "A session lasts 30 days after the password at most, and ends as an access token does when its user changes.",
    answers: { 200: { ...json("browser-session", "The session.", browserSession), headers: sessionCookie } },
  },
  "DELETE /api/v1/auth/session": {
    id: "endSession",
    tag: "Sessions",
    summary: "Sign out",
    description: "Ends the session with all its cookies, and removes the browser's.",
    answers: { 204: { ...nothing("The session is over."), headers: sessionCookie } },
  },
  "GET /api/v1/me": {
    id: "getMe",
    tag: "Sessions",
    summary: "Get the caller",
    description:
      "The caller, its tenant, and the operations that it may call on at least one record. The record can " +
      "still forbid it: a Viewer, for example, may change no user but itself.",
    answers: { 200: json("me", "The caller.", me) },
  },
};
