import type { Services } from "../../application/services.ts";
import { access } from "../access.ts";
import { bodies } from "../requests/body-schemas.ts";
import { openWith, signedIn, type Route } from "../route.ts";

const signedInUser = access("Viewer", null);

/** Login and logout. */
export function sessionRoutes({ login, sessions }: Services): Route[] {
  return [
    openWith("POST", "/api/v1/auth/login", bodies.login, async ({ address }, read) => {
      const { email, password } = await read();
      const { user, ...token } = await login.login(email, password, address);
      return { status: 200, body: { ...token, tokenType: "Bearer", user } };
    }),
    signedIn(signedInUser, "POST", "/api/v1/auth/logout", async ({ caller, origin }) => {
      await sessions.revoke(caller, origin);
      return { status: 204 };
    }),
  ];
}
