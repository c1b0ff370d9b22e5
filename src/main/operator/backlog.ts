import { destinations } from "../../../projections/destinations/destinations.ts";
import { events } from "../../../projections/events/events.ts";
import { destinationStatus, type DestinationStatus } from "../../features/destinations/facts.ts";
import { backlogOf as waitingOf } from "../../features/destinations/health.ts";
import { isWaiting } from "../../features/events/decide.ts";
import { eventStatuses, type EventStatus } from "../../features/events/facts.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import { documentOf, everyValue } from "../../kernel/read-models/scans.ts";
import type { RelaySettings } from "../relay.ts";
import { counted, withReadModels } from "./reports.ts";

const most = 20;
type Questions = Pick<ReadModels, "get" | "find" | "distinct" | "sum">;

/** The number of a destination's events that wait for an attempt. */
export interface DestinationBacklog {
  readonly destinationId: string;
  readonly tenantId: string;
  /** Null for a deleted destination, whose events are about to be cancelled. */
  readonly status: DestinationStatus | null;
  readonly waiting: number;
  /** The due time of the first of them: of the first retry, or of the Pending event that was accepted first. */
  readonly oldestDueAt: string | null;
}

const statuses = eventStatuses.filter((status) => isWaiting({ status }));

/** The destinations with the largest backlogs, a line each. Rejects as {@link withReadModels} does. */
export async function describeBacklog({ config, logger }: RelaySettings): Promise<readonly string[]> {
  const backlogs = await withReadModels(config, logger, backlogByDestination);
  const lines = backlogs.slice(0, most).map(({ destinationId, tenantId, status, waiting, oldestDueAt }) =>
    `waiting ${waiting}  tenant ${tenantId}  destination ${destinationId}  ${(status ?? "Deleted").padEnd(9)}`
    + `  oldest due ${oldestDueAt ?? "-"}`);
  const sum = backlogs.reduce((total, { waiting }) => total + waiting, 0);
  const verdict = `waiting in all: ${counted(sum, "event")} for ${counted(backlogs.length, "destination")}`;
  return [...lines, sum === 0 ? "no event waits" : verdict];
}

/** All destinations with waiting events, the largest backlog first. Reads no single events: there may be millions. */
export async function backlogByDestination(readModels: Questions): Promise<readonly DestinationBacklog[]> {
  const found = new Map<string, EventStatus>();
  for (const status of statuses) {
    const selection = { collection: events.name, where: { status } };
    for (const id of await everyValue(readModels, selection, "destinationUrlId")) found.set(id, status);
  }
  const backlogs: DestinationBacklog[] = [];
  for (const [destinationId, status] of found) {
    const backlog = await backlogOf(readModels, destinationId, status);
    if (backlog && backlog.waiting > 0) backlogs.push(backlog);
  }
  return backlogs.sort((a, b) => b.waiting - a.waiting);
}

/** `found`: a status of some of its events, by which the tenant of a deleted destination is found. */
async function backlogOf(
  readModels: Questions, destinationId: string, found: EventStatus,
): Promise<DestinationBacklog | null> {
  const document = await documentOf(readModels, destinations, destinationId);
  const tenantId = document?.tenantId ?? await tenantOf(readModels, destinationId, found);
  if (tenantId === undefined) return null;
  const backlog = await waitingOf(readModels, { tenantId, destinationUrlId: destinationId });
  return { destinationId, tenantId, status: document && destinationStatus(document), ...backlog };
}

async function tenantOf(
  readModels: Questions, destinationUrlId: string, status: EventStatus,
): Promise<string | undefined> {
  const selection = { collection: events.name, where: { status, destinationUrlId } };
  const [tenantId] = await readModels.distinct(selection, "tenantId", { limit: 1 });
  return tenantId as string | undefined;
}
