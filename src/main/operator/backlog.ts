import { backlogByDestination } from "../../delivery/requests/backlog.ts";
import type { RelaySettings } from "../relay.ts";
import { counted } from "./counted.ts";
import { withReadModels } from "./stored-read-models.ts";

/** Destinations shown: an operator looks for the few that matter. */
const most = 20;

/**
 * The destinations with the largest backlogs, a line each, whether a relay is running or not. Rejects as
 * {@link withReadModels} does.
 */
export async function describeBacklog({ config, logger }: RelaySettings): Promise<readonly string[]> {
  const backlogs = await withReadModels(config, logger, backlogByDestination);
  const lines = backlogs.slice(0, most).map(({ destinationId, tenantId, status, waiting, oldestDueAt }) =>
    `waiting ${waiting}  tenant ${tenantId}  destination ${destinationId}  ${(status ?? "Deleted").padEnd(9)}`
    + `  oldest due ${oldestDueAt ?? "-"}`);
  const sum = backlogs.reduce((total, { waiting }) => total + waiting, 0);
  const verdict = `waiting in all: ${counted(sum, "event")} for ${counted(backlogs.length, "destination")}`;
  return [...lines, sum === 0 ? "no event waits" : verdict];
}
