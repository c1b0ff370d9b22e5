import { parseOptionalDateTime } from "../../application/input-rules.ts";
import type { Services } from "../../application/services.ts";
import { access } from "../access.ts";
import { statisticsQuery } from "../requests/list-queries.ts";
import { signedInQuery, type Route } from "../route.ts";

const read = access("Viewer", "events:read");

/** The work on the tenant's events, by time. */
export function statisticsRoutes({ queries }: Services): Route[] {
  return [
    signedInQuery(read, "/api/v1/statistics", statisticsQuery, async ({ caller, input }) => {
      const { From, To, Bucket: bucket, DestinationUrlId, EventType: eventType, GroupBy } = input;
      const request = {
        from: parseOptionalDateTime("From", From),
        to: parseOptionalDateTime("To", To),
        bucket,
        destinationUrlId: DestinationUrlId?.toLowerCase(),
        eventType,
        byDestination: GroupBy === "destination",
      };
      return { status: 200, body: await queries.statistics.of(caller, request) };
    }),
  ];
}
