import { bodies } from "../../bodies.ts";
import { password, session } from "../examples.ts";
import { json, nothing, problem, type Operation } from "../operation.ts";

/** Login and logout. */
export const sessionOperations: readonly Operation[] = [
  {
    id: "login",
    method: "POST",
    path: "/api/v1/auth/login",
    tag: "Sessions",
    summary: "Log in",
    description:
      "Answers an access token for the `Authorization` header. A token stops working at once when it is logged " +
      "out, and when the password, role or status of its user changes or the user is deleted.",
    security: "none",
    body: { schema: bodies.login.schema, examples: { owner: { email: "owner@example.com", password } } },
    answers: {
      200: json("session", "The session.", session),
      401: problem(
        "An unknown email, a wrong password or an inactive user: the same answer in the same time.",
        "email or password is wrong",
      ),
      429: problem(
        "10 attempts within 5 minutes have failed for this address or this email (`RELAY_LIMIT_LOGIN_FAILURES`). " +
        "The password was not looked at.",
        "too many failed logins; try again later",
      ),
    },
  },
  {
    id: "logout",
    method: "POST",
    path: "/api/v1/auth/logout",
    tag: "Sessions",
    summary: "Log out",
    description: "Ends the session of the token that is sent.",
    security: "bearer",
    answers: { 204: nothing("The token works no more.") },
  },
];
