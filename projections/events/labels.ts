import type { WebhookEvent } from "../../src/features/events/facts.ts";
import type { DataOf } from "../../src/kernel/domain/domain-event.ts";
import { acceptedMsOf, greatestEventId, leastEventId } from "../../src/kernel/domain/event-id.ts";
import type { Tag, Tags } from "../../src/kernel/domain/tags.ts";
import { millis, type Timestamp } from "../../src/kernel/domain/time.ts";
import { uuidForm } from "../../src/kernel/domain/uuid.ts";
import type { Change, Query, Collection, ReadModels } from "../../src/kernel/ports/read-models.ts";
import { create, remove } from "../projection.ts";

/** A label of an event. */
export type LabelDocument = { readonly key: string };

/** Texts for searches by tags, sender, type and the like. A label's events are adjacent, ordered by acceptance. */
export const labels: Collection<LabelDocument> = {
  name: "labels",
  key: "key",
  fields: { key: "text" },
  indexes: [],
};

/** Filters that labels serve; see {@link labelsWanted}. */
export interface LabelFilter {
  readonly senderId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly ownerId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly tags?: readonly Tag[] | undefined;
  readonly test?: boolean | undefined;
}

/** Tags have no such names, and values lack the character that ends a label. */
const names = {
  senderId: "@sender", eventType: "@type", ownerId: "@owner", messageId: "@message", correlationId: "@correlation",
} as const;
const testLabel = "@test";
const end = "\n";

const uuidCharacters = 36;
/** The longest time, ms, from the id of a request to the acceptance of its event. */
const soonMs = 1_000;

/** The labels of a new event; null for none. `correlationId`: unless the document has it. */
export function labelsOf(
  accepted: DataOf<WebhookEvent, "EventAccepted">, correlationId: string | undefined,
): readonly string[] | null {
  const { senderId, eventType, ownerId, tags, test, messageId } = accepted;
  if (senderId === null && !eventType && !ownerId && !tags && !test && correlationId === undefined) return null;
  return [
    ...labelsWanted({ senderId: senderId ?? undefined, eventType, ownerId, messageId, tags: tagsOf(tags), test }),
    ...(correlationId === undefined ? [] : [correlationLabel(correlationId)]),
  ];
}

/** The labels that an event must have to match a filter. */
export function labelsWanted({ tags = [], test, ...filter }: LabelFilter): string[] {
  const named = (["senderId", "eventType", "ownerId", "messageId"] as const).flatMap((field) => {
    const value = filter[field];
    return value === undefined ? [] : [`${names[field]}:${value}`];
  });
  return [...named, ...tags.map(({ name, value }) => `${name}:${value}`), ...(test === true ? [testLabel] : [])];
}

/** The label for a request's id that the document lacks. */
export function correlationLabel(correlationId: string): string {
  return `${names.correlationId}:${correlationId}`;
}

/** Whether a request's id is a UUID of version 7 made just before the acceptance, as the relay's own are. */
export function isOfOwnRequest(acceptedAt: Timestamp, correlationId: string): boolean {
  return isTimed(correlationId) && Math.abs(millis(acceptedAt) - acceptedMsOf(correlationId)) <= soonMs;
}

/** The ids of all events that a request of this id may have brought by {@link isOfOwnRequest}; null for other ids. */
export function idsAround(correlationId: string): { readonly from: string; readonly to: string } | null {
  if (!isTimed(correlationId)) return null;
  const ms = acceptedMsOf(correlationId);
  return { from: leastEventId(ms - soonMs), to: greatestEventId(ms + soonMs) };
}

/** UUIDs of version 7 and ids of events begin with a time. */
function isTimed(correlationId: string): boolean {
  return correlationId[14] === "7" && uuidForm.test(correlationId);
}

function tagsOf(tags: Tags | undefined): readonly Tag[] {
  return tags === undefined ? [] : Object.entries(tags).map(([name, value]) => ({ name, value }));
}

function keyOf(tenantId: string, label: string, eventId: string): string {
  return `${tenantId}/${label}${end}${eventId}`;
}

/** The range of labels of a tenant's events; see {@link eventIdOfKey}. */
export function eventsLabelled(
  tenantId: string, label: string, { from, to }: { readonly from?: string; readonly to?: string }, descending: boolean,
): Omit<Query, "limit"> {
  const [least, greatest] = [from ?? leastEventId(0), to ?? greatestEventId(Infinity)];
  return {
    collection: labels.name,
    range: { field: labels.key, from: keyOf(tenantId, label, least), to: keyOf(tenantId, label, greatest) },
    order: { field: labels.key, descending },
  };
}

/** The id of the event at the end of a key. */
export function eventIdOfKey(key: string): string {
  return key.slice(-uuidCharacters);
}

/** The type that an event's labels say; null where they say none. */
export function eventTypeOf({ labels: own }: { readonly labels: readonly string[] | null }): string | null {
  return valueOf(own, names.eventType);
}

function valueOf(own: readonly string[] | null, name: string): string | null {
  const prefix = `${name}:`;
  return own?.find((label) => label.startsWith(prefix))?.slice(prefix.length) ?? null;
}

/** The message that an event with these labels delivers; null for any other. */
export function messageIdOf({ labels: own }: { readonly labels: readonly string[] | null }): string | null {
  return valueOf(own, names.messageId);
}

/** The tenant's first name of a tag behind this one, or of all; null where there is none. One key is read. */
export async function tagNameAfter(
  readModels: Pick<ReadModels, "keys">, tenantId: string, name: string | undefined,
): Promise<string | null> {
  const order = { field: labels.key, descending: false };
  const next = async (from: string) => {
    const range = { field: labels.key, from: `${tenantId}/${from}`, to: `${tenantId}/~` };
    const [key] = await readModels.keys({ collection: labels.name, range, order, limit: 1 });
    return key?.slice(tenantId.length + 1) ?? null;
  };
  // `;` sorts just behind the `:` after a name, and `A` just behind the `@` of labels that are no tags.
  const label = await next(name === undefined ? "" : `${name};`);
  const tag = label?.startsWith("@") ? await next("A") : label;
  return tag?.slice(0, tag.indexOf(":")) ?? null;
}

interface Labelled {
  readonly id: string;
  readonly tenantId: string;
  readonly labels: readonly string[] | null;
}

/** Stores the labels of a new event. */
export function labelled({ id, tenantId, labels: own }: Labelled): Change[] {
  return own === null ? [] : own.map((label) => create(labels, { key: keyOf(tenantId, label, id) }));
}

/** Removes the labels of an event. */
export function unlabelled({ id, tenantId, labels: own }: Labelled): Change[] {
  return own === null ? [] : own.map((label) => remove(labels, keyOf(tenantId, label, id)));
}
