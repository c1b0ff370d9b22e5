import listRefusals from "../../../schemas/requests/list-refusals.json" with { type: "json" };
import { parseOptionalDateTime } from "../../kernel/callers/input-rules.ts";
import { access } from "../../kernel/operations/access.ts";
import { page } from "../../kernel/operations/description.ts";
import { signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { refusal } from "../examples.ts";
import type { Services } from "../services.ts";

const read = access("Viewer", "events:read");

/** Refused ingest requests of the caller's tenant. */
export function refusalOperations({ queries }: Services): Operation[] {
  return [
    signedIn({
      id: "listRefusals",
      route: "GET /api/v1/refusals",
      access: read,
      tag: "Events",
      summary: "List refused ingest requests",
      description:
        "Ingest requests to the tenant's paths that were answered with a status from 400 to 499, in groups: " +
        "those of one minute with the same status, reason, destination, sender and API key. The newest 1,000 groups " +
        "of the last 30 days, newest first. Neither keys nor tokens that were sent are kept. Counted as well as " +
        "possible: a crash may lose the last second, and a flood of different reasons is counted as `other reasons`.",
      list: listRefusals,
      answers: { 200: page("refusal", "A page of groups; `total` counts the groups.", refusal) },
    }, async ({ caller, input: { page, filters } }) => {
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
