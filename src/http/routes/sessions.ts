import type { Services } from "../../application/services.ts";
import { bodies } from "../bodies.ts";
import { signedIn, type Route } from "../route.ts";

/** Login and logout. */
export function sessionRoutes({ login, sessions }: Services): Route[] {
  return [
    {
      method: "POST",
      path: "/api/v1/auth/login",
      run: async (exchange) => {
        const { email, password } = bodies.login(await exchange.body());
        const { user, ...token } = await login.login(email, password, exchange.address);
        return { status: 200, body: { ...token, tokenType: "Bearer", user } };
      },
    },
    signedIn("POST", "/api/v1/auth/logout", async ({ caller, origin }) => {
      await sessions.revoke(caller, origin);
      return { status: 204 };
    }),
  ];
}
