import { audit, auditItem, type AuditDocument } from "../../../projections/audit/audit.ts";
import type { IncidentDocument } from "../../../projections/incidents/incidents.ts";
import { senders } from "../../../projections/senders/senders.ts";
import type { components } from "../../../schemas/api.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { dayMs, millis, timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import { told } from "../history.ts";

/** A change before an incident. */
export type Suspect = Readonly<components["schemas"]["Suspect"]>;

const mostSuspects = 5;
/** The newest senders of the destination whose changes are looked at. */
const mostSenders = 50;
/** Of the newest entries, how many are looked at: some, such as a closed circuit, change no setting. */
const mostEntries = 50;

const streamOf = { tenant: streams.tenant, destination: streams.destination, sender: streams.sender };

/** For each incident the newest changes in the day before: of its destination, its senders, the tenant's settings. */
export async function suspectsOf(
  parts: Pick<KernelParts, "store" | "readModels" | "freshness">, caller: Caller,
  incidents: readonly IncidentDocument[],
): Promise<readonly Suspect[][]> {
  const found = await Promise.all(incidents.map((incident) => changesBefore(parts.readModels, incident)));
  const items = found.flat().map((change) => auditItem(change));
  const named = await told(parts, caller, items, ({ subject: { type, id } }) =>
    streamOf[type as keyof typeof streamOf](id));
  const left = named.values();
  return incidents.map(({ startedAt }, at) => found[at]!.map(() => {
    const { position, type, subject, time, actor, changes } = left.next().value!;
    const secondsBefore = Math.floor((millis(startedAt) - millis(time)) / 1_000);
    const entry = { position, type, subject, time, actor };
    return { entry, secondsBefore, ...(changes && { changes: [...changes] }) };
  }));
}

async function changesBefore(
  readModels: ReadModels, { tenantId, destinationUrlId, startedAt }: IncidentDocument,
): Promise<readonly AuditDocument[]> {
  const senderIds = await readModels.keys({
    collection: senders.name, where: { tenantId, destinationUrlId },
    order: { field: senders.key, descending: true }, limit: mostSenders,
  });
  const entries = await readModels.find({
    collection: audit.name,
    where: { tenantId },
    anyOf: { field: "subjectId", values: [tenantId, destinationUrlId, ...senderIds] },
    range: { field: "time", from: timestamp(millis(startedAt) - dayMs), to: startedAt },
    order: { field: "time", descending: true },
    limit: mostEntries,
  }) as readonly AuditDocument[];
  const changes = entries.filter(({ subjectType, type }) => subjectType in streamOf && type !== "TenantCreated");
  return changes.slice(0, mostSuspects);
}
