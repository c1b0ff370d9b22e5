import { parseOptionalDateTime } from "../../application/input-rules.ts";
import type { Services } from "../../application/services.ts";
import { access } from "../access.ts";
import { lists } from "../requests/list-queries.ts";
import { signedInQuery, type Route } from "../route.ts";

const read = access("Viewer", "events:read");

/** Refused ingest requests of the caller's tenant. */
export function refusalRoutes({ queries }: Services): Route[] {
  return [
    signedInQuery(read, "/api/v1/refusals", lists.refusals, async ({ caller, input: { page, filters } }) => {
      const { Status: status, DestinationUrlId, SenderId, From, To } = filters;
      const filter = {
        status,
        destinationUrlId: DestinationUrlId?.toLowerCase(),
        senderId: SenderId?.toLowerCase(),
        from: parseOptionalDateTime("From", From),
        to: parseOptionalDateTime("To", To),
      };
      return { status: 200, body: await queries.refusals.list(caller, filter, page) };
    }),
  ];
}
