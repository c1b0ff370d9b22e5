import getStatistics from "../../../schemas/requests/get-statistics.json" with { type: "json" };
import { parseOptionalDateTime } from "../../kernel/callers/input-rules.ts";
import { access, withPortal } from "../../kernel/operations/access.ts";
import { json, problem, unnamedDestination } from "../../kernel/operations/description.ts";
import { signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { statistics } from "../examples.ts";
import type { Services } from "../services.ts";

const read = withPortal(access("Viewer", "events:read"), "read");

/** The work on the tenant's events, by time. */
export function statisticsOperations({ queries }: Services): Operation[] {
  return [
    signedIn({
      id: "getStatistics",
      route: "GET /api/v1/statistics",
      access: read,
      isLarge: true,
      tag: "Events",
      summary: "Get statistics of events",
      description:
        "How many events were accepted, delivered, given up and cancelled, how many attempts ended, why they " +
        "failed and how long they took, in buckets of time; empty buckets are listed. Everything counts in the " +
        "bucket in which it happened, an attempt in that in which it ended. Test events are left out, purged ones " +
        "stay counted. Buckets of minutes reach back 8 days, those of hours 400 days; before that they are empty. At " +
        "most 1,500 points in a series, and 15,000 in all.",
      query: getStatistics,
      answers: {
        200: json("statistics", "The statistics.", statistics),
        400: problem(
          "A parameter is not valid, or there are too many points.",
          "Bucket: gives more than 1500 points; take larger buckets or a shorter time", "To: must be later than From",
        ),
        404: unnamedDestination,
      },
    }, async ({ caller, input }) => {
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
