import { isDeepStrictEqual } from "node:util";
import { audit, type AuditDocument } from "../../../projections/audit/audit.ts";
import type { IncidentDocument } from "../../../projections/incidents/incidents.ts";
import { senders } from "../../../projections/senders/senders.ts";
import type { components } from "../../../schemas/api.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { dayMs, millis, timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { facts, shownData } from "../facts.ts";

/** A change before an incident. */
export type Suspect = Readonly<components["schemas"]["Suspect"]>;
/** A setting before and after a change. */
type SettingChange = NonNullable<Suspect["changes"]>[number];

const mostSuspects = 5;
/** The newest senders of the destination whose changes are looked at. */
const mostSenders = 50;
/** Of the changes in time, how many are looked at; closed circuits and the like are none of the settings. */
const mostChanges = 50;
/** How many earlier facts of a subject are looked through for the values before a change. */
const mostEarlier = 500;

const streamOf = { tenant: streams.tenant, destination: streams.destination, sender: streams.sender };

type Parts = Pick<KernelParts, "readModels" | "store">;

/** The newest changes in the day before an incident: of its destination, its senders, and the tenant's settings. */
export async function suspectsOf(
  parts: Parts, { tenantId, destinationUrlId, startedAt }: IncidentDocument,
): Promise<readonly Suspect[]> {
  const { readModels } = parts;
  const senderIds = await readModels.keys({
    collection: senders.name, where: { tenantId, destinationUrlId },
    order: { field: senders.key, descending: true }, limit: mostSenders,
  });
  const changes = await readModels.find({
    collection: audit.name,
    where: { tenantId },
    anyOf: { field: "subjectId", values: [tenantId, destinationUrlId, ...senderIds] },
    range: { field: "time", from: timestamp(millis(startedAt) - dayMs), to: startedAt },
    order: { field: "time", descending: true },
    limit: mostChanges,
  }) as readonly AuditDocument[];
  const newest = changes.filter(({ subjectType }) => subjectType in streamOf).slice(0, mostSuspects);
  return Promise.all(newest.map((change) => suspectOf(parts, change, startedAt)));
}

async function suspectOf(parts: Parts, fact: AuditDocument, startedAt: string): Promise<Suspect> {
  const { position, type, subjectType, subjectId, time, actor } = fact;
  const changes = await changesOf(parts, fact);
  return {
    entry: { position, type, subject: { type: subjectType, id: subjectId }, time, actor } as Suspect["entry"],
    secondsBefore: Math.floor((millis(startedAt) - millis(time)) / 1_000),
    ...(changes.length > 0 && { changes }),
  };
}

/** The settings that a fact changed, with their values before from earlier facts of its subject. */
async function changesOf(
  { store }: Parts, { type, data, revision, subjectType, subjectId }: AuditDocument,
): Promise<SettingChange[]> {
  const after = settingsIn({ type, data });
  const missing = new Set(Object.keys(after));
  if (missing.size === 0 || revision === 0) return [];
  const stream = streamOf[subjectType as keyof typeof streamOf](subjectId);
  const earlier = await store.readStream(stream, { from: revision - 1, backwards: true, limit: mostEarlier });
  const before: Record<string, unknown> = {};
  for (const entry of earlier) {
    if (entry.unreadable !== undefined) break;
    const known = { ...shownData(entry), ...settingsIn(entry) } as Readonly<Record<string, unknown>>;
    for (const field of missing) {
      if (!(field in known)) continue;
      before[field] = known[field];
      missing.delete(field);
    }
    if (missing.size === 0) break;
  }
  return Object.entries(after)
    .filter(([field, to]) => !isDeepStrictEqual(before[field], to))
    .map(([field, to]) => ({ field, ...(field in before && { from: before[field] }), to }));
}

function settingsIn({ type, data }: { readonly type: string; readonly data: object }): Record<string, unknown> {
  const { changes = [], sets = {} } = facts.get(type) ?? {};
  const shown = shownData({ type, data }) as Readonly<Record<string, unknown>>;
  return { ...Object.fromEntries(changes.filter((name) => name in shown).map((name) => [name, shown[name]])), ...sets };
}
