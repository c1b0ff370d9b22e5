import {
  destinations, destinationStatus, type DestinationDocument, type DestinationStatus,
} from "../../../projections/destinations/destinations.ts";
import { waiting } from "../../../projections/due/due.ts";
import { events, eventsOrdered } from "../../../projections/events/events.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { everyValue } from "../pages.ts";

type Asked = Pick<ReadModels, "get" | "find" | "count" | "distinct">;

/** What of a destination waits for an attempt. */
export interface DestinationBacklog {
  readonly destinationId: string;
  /** Null, like the status, where the destination is deleted: its events are about to be cancelled. */
  readonly tenantId: string | null;
  readonly status: DestinationStatus | null;
  readonly waiting: number;
  /** When the first of it became, or becomes, due; null where all of it went on meanwhile. */
  readonly oldestDueAt: string | null;
}

/** Every destination that events wait for, as far as the log was projected; the largest backlog first. */
export async function backlogByDestination(readModels: Asked): Promise<readonly DestinationBacklog[]> {
  const pending = { collection: events.name, where: { status: "Pending" } };
  const ids = new Set([
    ...await everyValue(readModels, pending, "destinationUrlId"),
    ...await everyValue(readModels, { collection: waiting.name }, "destinationId"),
  ]);
  const backlogs: DestinationBacklog[] = [];
  for (const id of ids) backlogs.push(await backlogOf(readModels, id));
  return backlogs.sort((a, b) => b.waiting - a.waiting);
}

async function backlogOf(readModels: Asked, destinationId: string): Promise<DestinationBacklog> {
  const document = await readModels.get(destinations.name, destinationId) as DestinationDocument | null;
  const pending = {
    collection: events.name,
    where: { status: "Pending", destinationUrlId: destinationId, ...(document && { tenantId: document.tenantId }) },
  };
  const retries = { collection: waiting.name, where: { destinationId } };
  const [[accepted], [retry]] = await Promise.all([
    readModels.find({ ...pending, order: eventsOrdered(false), limit: 1 }),
    readModels.find({ ...retries, order: { field: "dueAt", descending: false }, limit: 1 }),
  ]);
  const dueTimes = [accepted?.["acceptedAt"], retry?.["dueAt"]].filter((at) => typeof at === "string");
  return {
    destinationId,
    tenantId: document?.tenantId ?? null,
    status: document && destinationStatus(document),
    waiting: await readModels.count(pending) + await readModels.count(retries),
    oldestDueAt: dueTimes.sort()[0] ?? null,
  };
}
