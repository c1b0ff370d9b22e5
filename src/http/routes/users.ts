import type { Services } from "../../application/services.ts";
import { rolesByCode } from "../../domain/roles.ts";
import { statusesByCode } from "../../domain/tenant/events.ts";
import { access } from "../access.ts";
import { bodies } from "../requests/body-schemas.ts";
import { lists } from "../requests/list-queries.ts";
import { pathId, signedIn, signedInQuery, signedInWith, type Route } from "../route.ts";

const read = access("Viewer", "users:read");
const create = access("Developer", "users:write");
/** Every user may change itself, which a service account is none. */
const update = access("Viewer", "users:write", "Admin");
const remove = access("Admin", "users:write");

/** Users of the caller's tenant. */
export function userRoutes({ commands, queries }: Services): Route[] {
  return [
    signedInWith(create, "POST", "/api/v1/users", bodies.createUser, async ({ caller, input, origin }) => ({
      status: 201,
      body: await commands.users.create(caller, input, origin),
    })),
    signedInQuery(read, "/api/v1/users", lists.users, async ({ caller, input: { page, filters } }) => {
      const status = filters.Status === undefined ? undefined : statusesByCode[filters.Status];
      const role = filters.Role === undefined ? undefined : rolesByCode[filters.Role];
      return { status: 200, body: await queries.users.list(caller, { status, role }, page) };
    }),
    signedIn(read, "GET", "/api/v1/users/:id", async (call) => ({
      status: 200,
      body: await queries.users.get(call.caller, pathId(call)),
    })),
    signedInWith(update, "PATCH", "/api/v1/users/:id", bodies.updateUser, async (call) => ({
      status: 200,
      body: await commands.users.change(call.caller, pathId(call), call.input, call.origin),
    })),
    signedIn(remove, "DELETE", "/api/v1/users/:id", async (call) => {
      await commands.users.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
  ];
}
