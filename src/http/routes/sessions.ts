import type { IssuedToken } from "../../application/accounts/sessions.ts";
import type { Services } from "../../application/services.ts";
import type { UserView } from "../../application/views.ts";
import { usersOnly } from "../access.ts";
import { bodies } from "../requests/body-schemas.ts";
import {
  cookieNameFor, cookiesOf, endedCookies, sessionCookie, type CookieName,
} from "../requests/session-cookie.ts";
import { openWith, sessionOf, signedIn, type Answer, type Route } from "../route.ts";

const signedInUser = usersOnly("Viewer");

/** Sessions by access token, and by the cookie of a browser. */
export function sessionRoutes(services: Services): Route[] {
  const { login, sessions } = services;
  return [
    openWith("POST", "/api/v1/auth/login", bodies.login, async ({ address }, read) => {
      const { email, password } = await read();
      const { token: accessToken, expiresIn, expiresAt, user } = await login.login(email, password, address);
      return { status: 200, body: { accessToken, expiresIn, expiresAt, tokenType: "Bearer", user } };
    }),
    signedIn(signedInUser, "POST", "/api/v1/auth/logout", async (call) => {
      await sessions.revoke(sessionOf(call), call.origin);
      return { status: 204 };
    }),
    openWith("POST", "/api/v1/auth/session", bodies.login, async ({ address, headers }, read) => {
      const { email, password } = await read();
      const name = cookieNameFor(headers);
      const { user, ...token } = await login.signIn(email, password, address);
      return opened(name, token, user);
    }),
    renewal(services),
    signedIn(signedInUser, "DELETE", "/api/v1/auth/session", async (call) => {
      await sessions.revoke(sessionOf(call), call.origin);
      return { status: 204, headers: { "Set-Cookie": endedCookies } };
    }),
  ];
}

function renewal({ sessions, queries }: Services): Route {
  const path = "/api/v1/auth/session/renewal";
  const route = signedIn(signedInUser, "POST", path, async (call) => {
    const { headers, origin } = call;
    const session = sessionOf(call);
    const user = await queries.users.get(session, session.userId);
    const token = await sessions.renew(session, origin);
    return opened(sessionCookie(headers)?.name ?? cookieNameFor(headers), token, user);
  });
  return { ...route, security: "cookie" };
}

function opened(name: CookieName, { token, expiresIn, expiresAt }: IssuedToken, user: UserView): Answer {
  return { status: 200, headers: { "Set-Cookie": cookiesOf(name, token, expiresIn) }, body: { user, expiresAt } };
}
