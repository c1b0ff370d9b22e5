import { page, type Descriptions } from "../description.ts";
import { refusal } from "../examples.ts";

/** Refused ingest requests of the caller's tenant. */
export const refusalDescriptions: Descriptions = {
  "GET /api/v1/refusals": {
    id: "listRefusals",
    tag: "Events",
    summary: "List refused ingest requests",
    description:
      "Ingest requests to the tenant's paths that were answered with a status from 400 to 499, in groups: " +
      "those of one minute with the same status, reason, destination, sender and API key. The newest 1,000 groups of " +
      "the last 30 days, newest first. Neither keys nor tokens that were sent are kept. Counted as well as possible: " +
      "a crash may lose the last second, and a flood of different reasons is counted as `other reasons`.",
    answers: { 200: page("refusal", "A page of groups.", refusal) },
  },
};
