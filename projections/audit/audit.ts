import { auditTypes, facts, historyItem, type HistoryItem } from "../../src/features/facts.ts";
import type { Actor } from "../../src/kernel/domain/domain-event.ts";
import { subjectIds, type SubjectType } from "../../src/kernel/domain/fact.ts";
import { tenantCounter, type Selection, type Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, type Projection, type Recording } from "../projection.ts";

/** A fact of the audit: the fields of its history, and its subject. */
export type AuditDocument = { readonly [Field in keyof HistoryItem]: HistoryItem[Field] } & {
  readonly tenantId: string;
  readonly subjectType: SubjectType;
  readonly subjectId: string;
  /** Null unless a user or a service account acted. */
  readonly actorId: string | null;
};

/** The narrowest last: of several usable indexes both engines take the last. */
const filters = ["type", "actorId", "subjectId", "correlationId"] as const;

/** Facts that somebody caused, by position. Each filter's index ends with the others' fields, for combinations. */
export const audit: Collection<AuditDocument> = {
  name: "audit",
  key: "position",
  fields: {
    position: "text",
    tenantId: "id",
    type: "text",
    revision: "number",
    time: "time",
    subjectType: "text",
    subjectId: "id",
    actorId: "text",
    actor: "json",
    correlationId: "text",
    data: "json",
  },
  indexes: [
    ["tenantId", "time"],
    ...filters.map((filter) =>
      ["tenantId", filter, "time", "position", ...filters.filter((other) => other !== filter)] as const),
  ],
};

/** Filters of a list of facts; `from` and `to` are inclusive. */
export interface AuditFilter {
  readonly tenantId: string;
  readonly type?: string | undefined;
  readonly subjectId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Selects facts by a filter. */
export function auditSelected({ from, to, ...equal }: AuditFilter): Selection {
  const where = Object.fromEntries(Object.entries(equal).flatMap(([field, value]) =>
    value === undefined ? [] : [[field, value]]));
  const range = { field: "time", ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  return { collection: audit.name, where, ...((from ?? to) !== undefined && { range }) };
}

type Data = Readonly<Record<"tenantId" | (typeof subjectIds)[SubjectType], string>>;

/** Undefined for a fact that the audit leaves out. */
export function auditDocument(type: string, data: object, recording: Recording): AuditDocument | undefined {
  const subjectType = facts.get(type)?.audit;
  const { position, revision, metadata } = recording;
  const { actor } = metadata;
  if (!subjectType || !isSomebody(actor)) return undefined;
  const { tenantId, [subjectIds[subjectType]]: subjectId } = data as Data;
  const actorId = isListed(actor) ? actor.id : null;
  return {
    ...historyItem({ type, data, position, revision, metadata }), tenantId, subjectType, subjectId, actorId,
  };
}

function isListed(actor: Actor): actor is Actor & { readonly id: string } {
  return actor.type === "user" || actor.type === "serviceAccount" || actor.type === "portalLink";
}

/** The service's own acts, such as hourly purges, would bury the changes of people. */
function isSomebody(actor: Actor): boolean {
  return actor.type !== "service" || actor.part === "operator";
}

function recorded(type: string) {
  return (data: object, recording: Recording) => {
    const document = auditDocument(type, data, recording);
    return document ? [create(audit, document), add(tenantCounter(audit, document.tenantId), 1)] : [];
  };
}

/** Lists the changes of settings and people, also of deleted people. */
export const auditProjection: Projection = {
  name: "audit",
  version: 1,
  collections: [audit],
  on: Object.fromEntries(auditTypes.map((type) => [type, recorded(type)])),
};

/** A fact of the audit: as its subject's history has it, and the subject. */
export interface AuditItem extends HistoryItem {
  readonly subject: { readonly type: SubjectType; readonly id: string };
}

/** A fact of the audit as the API shows it. */
export function auditItem(
  { tenantId: _, subjectType, subjectId, actorId: __, type, ...rest }: AuditDocument,
): AuditItem {
  return { type, subject: { type: subjectType, id: subjectId }, ...rest };
}
