import type { Services } from "../../application/services.ts";
import { access, mayCall } from "../access.ts";
import { descriptions } from "../openapi/descriptions/index.ts";
import { signedIn, type Operation, type Route } from "../route.ts";

const everyone = access("Viewer", "any");

/** The caller itself, and which of the operations it may call. */
export function meRoutes({ queries }: Services, operations: () => readonly Operation[]): Route[] {
  return [
    signedIn(everyone, "GET", "/api/v1/me", async (call) => {
      const me = await queries.me.get(call.caller);
      const own = operations().filter(({ security, access: needed }) =>
        security === "none" || (needed !== undefined && mayCall(call.caller, needed)));
      const ids = own.flatMap(({ method, path }) => descriptions[`${method} ${path as `/${string}`}`]?.id ?? []);
      return { status: 200, body: { ...me, operations: ids } };
    }),
  ];
}
