import { json, problem, type Descriptions } from "../description.ts";
import { statistics } from "../examples.ts";

/** The work on the tenant's events, by time. */
export const statisticsDescriptions: Descriptions = {
  "GET /api/v1/statistics": {
    id: "getStatistics",
    tag: "Events",
    summary: "Get statistics of events",
    description:
      "How many events were accepted, delivered, given up and cancelled, how many attempts ended, why they " +
      "failed and how long they took, in buckets of time; empty buckets are listed. Everything counts in the bucket " +
      "in which it happened, an attempt in that in which it ended. Test events are left out, purged ones stay " +
      "counted. Buckets of minutes reach back 8 days, those of hours 400 days; before that they are empty. At most " +
      "1,500 points in a series, and 15,000 in all.",
    answers: {
      200: json("statistics", "The statistics.", statistics),
      400: problem(
        "A parameter is not valid, or there are too many points.",
        "Bucket: gives more than 1500 points; take larger buckets or a shorter time", "To: must be later than From",
      ),
    },
  },
};
