import createUser from "../../../../schemas/requests/create-user.json" with { type: "json" };
import listUsers from "../../../../schemas/requests/list-users.json" with { type: "json" };
import updateUser from "../../../../schemas/requests/update-user.json" with { type: "json" };
import { rolesByCode } from "../../../kernel/domain/roles.ts";
import { access } from "../../../kernel/operations/access.ts";
import { json, nothing, page, problem } from "../../../kernel/operations/description.ts";
import { changeOf } from "../../../kernel/operations/extended.ts";
import { pathId, signedIn, type Operation } from "../../../kernel/operations/operation.ts";
import { developer, password, user } from "../../examples.ts";
import type { Services } from "../../services.ts";
import { statusesByCode } from "../../tenants/facts.ts";

const changedUser = changeOf(createUser, updateUser);
const read = access("Viewer", "users:read");
const create = access("Developer", "users:write");
/** Every user may change itself, which a service account is none. */
const update = access("Viewer", "users:write", "Admin");
const remove = access("Admin", "users:write");
const id = "The user's id.";
const tag = "Users";
const othersUser = "the user belongs to another tenant";
const emailTaken = "email: a user with this email exists already";

/** Users of the caller's tenant. */
export function userOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "createUser",
      route: "POST /api/v1/users",
      access: create,
      tag,
      summary: "Create a user",
      description: "Developer or above, and never above the caller's own role.",
      body: createUser,
      examples: {
        developer: { email: "dev@example.com", password },
        admin: { email: "admin@example.com", password, role: 1 },
      },
      answers: {
        201: json("user", "The user.", developer),
        403: problem(
          "The caller's role does not allow it.",
          "role: Developer may not create a user with the role Admin", "only Developer or above may create users",
        ),
        404: problem("The caller's tenant is gone.", "tenant not found"),
        409: problem("The email is in use on the platform.", emailTaken),
      },
    }, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.users.create(caller, input, origin),
    })),
    signedIn({
      id: "listUsers",
      route: "GET /api/v1/users",
      access: read,
      tag,
      summary: "List users",
      list: listUsers,
      answers: { 200: page("user", "A page of users.", user) },
    }, async ({ caller, input: { page, filters } }) => {
      const status = filters.Status === undefined ? undefined : statusesByCode[filters.Status];
      const role = filters.Role === undefined ? undefined : rolesByCode[filters.Role];
      return { status: 200, body: await queries.users.list(caller, { status, role }, page) };
    }),
    signedIn({
      id: "getUser",
      route: "GET /api/v1/users/:id",
      access: read,
      tag,
      summary: "Get a user",
      parameters: { id },
      answers: {
        200: json("user", "The user.", user),
        403: problem("The user belongs to another tenant.", othersUser),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.users.get(call.caller, pathId(call)),
    })),
    signedIn({
      id: "updateUser",
      route: "PATCH /api/v1/users/:id",
      access: update,
      tag,
      summary: "Change a user",
      description:
        "Everyone may change their own email and password. All else needs Admin or Owner: other users, roles, " +
        "statuses. Only an Owner may promote to Owner or change an Owner. Absent fields stay unchanged. A new " +
        "password, role or status ends the user's sessions at once.",
      parameters: { id },
      body: changedUser,
      examples: { "own email": { email: "new@example.com" }, promote: { role: 1 }, deactivate: { status: 1 } },
      answers: {
        200: json("user", "The user as it is now.", { ...developer, role: "Admin" }),
        403: problem(
          "The user belongs to another tenant, or the caller's role does not allow the change.",
          othersUser, "role: only an Owner may promote to Owner",
        ),
        409: problem(
          "Another user has the email, or the user's was changed at the same moment.",
          emailTaken, "email: was changed by another request",
        ),
        422: problem(
          "The last active Owner stays an active Owner.",
          "the last active Owner can be neither demoted nor deactivated",
        ),
      },
    }, async (call) => ({
      status: 200,
      body: await commands.users.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn({
      id: "deleteUser",
      route: "DELETE /api/v1/users/:id",
      access: remove,
      tag,
      summary: "Delete a user",
      description:
        "Admin or Owner; an Owner only by an Owner. This cannot be undone. The user's sessions end, the email is " +
        "free again and cannot be read anywhere any more, the log included. The tenant's open invites to an email " +
        "that the user had are revoked, unless they were made after the user had given that email up.",
      parameters: { id },
      answers: {
        204: nothing("Deleted."),
        403: problem(
          "The user belongs to another tenant, or the caller's role does not allow it.",
          othersUser, "only Admin or above may delete users",
        ),
        422: problem("The last active Owner stays.", "the last active Owner cannot be deleted"),
      },
    }, async (call) => {
      await commands.users.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
  ];
}
