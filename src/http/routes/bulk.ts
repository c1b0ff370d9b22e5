import type { Services } from "../../application/services.ts";
import { access } from "../access.ts";
import { bodies } from "../requests/body-schemas.ts";
import { signedInWith, type Route } from "../route.ts";

const replay = access("Developer", "events:write");
const cancel = access("Developer", "events:write");
const purge = access("Admin", "events:write");

/** Operations on many events of the caller's tenant at once. */
export function bulkRoutes({ commands }: Services): Route[] {
  return [
    signedInWith(replay, "POST", "/api/v1/events/replay", bodies.replayEvents, async ({ caller, input, origin }) => ({
      status: 200,
      body: await commands.bulkReplay.replay(caller, input, origin),
    })),
    signedInWith(cancel, "POST", "/api/v1/events/cancel", bodies.cancelEvents, async ({ caller, input, origin }) => ({
      status: 200,
      body: await commands.bulkCancel.cancel(caller, input, origin),
    })),
    signedInWith(purge, "POST", "/api/v1/events/purge", bodies.purgeEvents, async ({ caller, input, origin }) => {
      const matched = await commands.purge.purge(caller, input, origin);
      return input.dryRun ? { status: 200, body: { matched } } : { status: 204 };
    }),
  ];
}
