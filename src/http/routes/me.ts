import type { Caller } from "../../application/caller.ts";
import type { Services } from "../../application/services.ts";
import { atLeast } from "../../domain/roles.ts";
import { access } from "../access.ts";
import { descriptions } from "../openapi/descriptions/index.ts";
import { signedIn, type Operation, type Route } from "../route.ts";

const caller = access("Viewer", null);

/** The caller itself, and which of the operations it may call. */
export function meRoutes({ queries }: Services, operations: () => readonly Operation[]): Route[] {
  return [
    signedIn(caller, "GET", "/api/v1/me", async (call) => {
      const me = await queries.me.get(call.caller);
      const own = operations().filter((operation) => mayCall(call.caller, operation));
      const ids = own.flatMap(({ method, path }) => descriptions[`${method} ${path as `/${string}`}`]?.id ?? []);
      return { status: 200, body: { ...me, operations: ids } };
    }),
  ];
}

/** Whether there may be a record on which the caller may carry out the operation. */
function mayCall({ role }: Caller, { security, access: needed }: Operation): boolean {
  return security === "none" || (needed !== undefined && atLeast(role, needed.role));
}
