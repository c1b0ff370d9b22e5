import { challenge, json, nothing, problem, type Descriptions } from "../description.ts";
import { password, session } from "../examples.ts";

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
      401: challenge(
        "Bearer",
        "An unknown email, a wrong password or an inactive user: the same answer in the same time.",
        "email or password is wrong",
      ),
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
};
