import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { isPointer, pathOf, valueAt } from "../../kernel/domain/json-pointer.ts";
import {
  list, nullable, object, oneOf, optional, text, uuid, type ValueOf, anyText,
} from "../../kernel/domain/schema.ts";
import { withChanges } from "../../kernel/domain/settings.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { isTagName, isTagValue, type Tags } from "../../kernel/domain/tags.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { AggregateType } from "../../kernel/log/aggregates.ts";

/** The schema of a {@link Mapping}, or null. */
export const mapping = nullable(
  object({ language: oneOf(["jmespath"]), expression: text() }),
  "How what is received becomes what is delivered; null where it is delivered unchanged.",
);
/** How a sender transforms received bodies. */
export type Mapping = NonNullable<ValueOf<typeof mapping>>;

/** The schema of a field of received bodies that becomes a tag of the event; its path is a JSON Pointer (RFC 6901). */
export const searchField = object({
  name: text("The tag's name."), path: anyText("A JSON Pointer into the body as received."),
});

/** A field of received bodies that becomes a tag of the event. */
export type SearchField = ValueOf<typeof searchField>;

/** The treatments of a message without a matching subscription. */
export const unmatchedActs = ["accept", "refuse"] as const;
/** One of {@link unmatchedActs}. */
export type UnmatchedAct = (typeof unmatchedActs)[number];

const fanOutSettings = {
  eventTypePath: nullable(
    text("A JSON Pointer into the body as received."), "Where bodies have the event type; null: only a header has it.",
  ),
  unmatched: oneOf(unmatchedActs, "What becomes of a message that no subscription matches."),
};
const ids = { senderId: uuid(), tenantId: uuid(), at };
const told = ["senderId", "tenantId", "at"] as const;

export const senderFacts = {
  SenderCreated: fact({
    data: {
      ...ids, name: text(),
      destinationId: uuid("Where its events are delivered."),
      mapping,
      ingestTokenHash: text("SHA-256 of the ingest token."),
      searchFields: optional(
        list(searchField, "Fields of received bodies that become tags; missing where there are none."),
      ),
    },
    meaning: "The sender was created.",
    words: "created the sender “{name}”",
    shown: [...told, "name", "destinationId", "mapping", "searchFields"],
    audit: "sender",
    creates: true,
    sets: { status: "Active" },
  }),
  FanOutSenderCreated: fact({
    data: {
      ...ids, name: text(), mapping,
      ingestTokenHash: text("SHA-256 of the ingest token."),
      searchFields: list(searchField, "Fields of received bodies that become tags."),
      ...fanOutSettings,
    },
    meaning: "The sender was created. It delivers each message to all subscriptions that match.",
    words: "created the sender “{name}”, which fans out",
    shown: [...told, "name", "mapping", "searchFields", "eventTypePath", "unmatched"],
    audit: "sender",
    creates: true,
    sets: { status: "Active" },
  }),
  SenderRenamed: fact({
    data: { ...ids, name: text() },
    meaning: "The sender was renamed.",
    words: "renamed the sender to “{name}”",
    shown: [...told, "name"],
    changes: ["name"],
    audit: "sender",
    setting: "the sender's name",
  }),
  SenderDestinationChanged: fact({
    data: { ...ids, destinationId: uuid("Where its events are delivered.") },
    meaning: "The destination of the sender changed.",
    words: "pointed the sender to the destination {destinationId}",
    shown: [...told, "destinationId"],
    changes: ["destinationId"],
    audit: "sender",
    setting: "the sender's destination",
  }),
  SenderMappingChanged: fact({
    data: { ...ids, mapping },
    meaning: "The mapping changed or was removed.",
    words: ["changed the mapping{mapping:unsaid}", "removed the mapping"],
    shown: [...told, "mapping"],
    changes: ["mapping"],
    audit: "sender",
    setting: "the sender's mapping",
    example: {
      senderId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e0b", tenantId: examples.tenantId,
      mapping: { language: "jmespath", expression: "{order: data.id, total: sum(data.lines[*].price)}" },
      at: examples.at,
    },
  }),
  SenderSearchFieldsChanged: fact({
    data: { ...ids, searchFields: list(searchField, "Fields of received bodies that become tags from now on.") },
    meaning: "Other fields of received bodies become tags, or none any longer.",
    words: "changed the search fields",
    shown: [...told, "searchFields"],
    changes: ["searchFields"],
    audit: "sender",
    setting: "the sender's search fields",
  }),
  SenderFanOutChanged: fact({
    data: { ...ids, ...fanOutSettings },
    meaning: "The path of the event type changed, or what becomes of messages that no subscription matches.",
    words: "changed how the sender fans out",
    shown: [...told, "eventTypePath", "unmatched"],
    changes: ["eventTypePath", "unmatched"],
    audit: "sender",
    setting: "how the sender fans out",
  }),
  SenderActivated: fact({
    data: ids,
    meaning: "The sender was activated.",
    words: "switched the sender on",
    shown: told,
    audit: "sender",
    setting: "the sender was switched on",
    sets: { status: "Active" },
  }),
  SenderDeactivated: fact({
    data: ids,
    meaning: "The sender was deactivated. It refuses events.",
    words: "switched the sender off",
    shown: told,
    audit: "sender",
    setting: "the sender was switched off",
    sets: { status: "Inactive" },
  }),
  SenderIngestTokenRegenerated: fact({
    data: { ...ids, ingestTokenHash: text("SHA-256 of the ingest token."), previousTokenHash: text() },
    meaning: "The sender's ingest token was replaced.",
    words: "replaced the sender's ingest token",
    shown: told,
    audit: "sender",
    replaces: "ingestToken",
  }),
  SenderDeleted: fact({
    data: { ...ids, ingestTokenHash: text("SHA-256 of the ingest token.") },
    meaning: "The sender was deleted.",
    words: "deleted the sender",
    shown: told,
    audit: "sender",
    setting: "the sender was deleted",
    sets: { status: "Deleted" },
  }),
};
export type SenderEvent = EventsOf<typeof senderFacts>;

/** The settings of a sender, each with a fact that changes it. */
export interface SenderSettings {
  readonly name: string;
  /** Where its events are delivered; null of a sender that fans out. */
  readonly destinationId: string | null;
  /** Makes the payload from the received body; null: the body is delivered as received. */
  readonly mapping: Mapping | null;
  readonly searchFields: readonly SearchField[];
  /** A JSON Pointer into received bodies; null where only a header tells the event type. */
  readonly eventTypePath: string | null;
  /** Null of a sender that does not fan out. */
  readonly unmatched: UnmatchedAct | null;
}

/** A sender as folded from its own stream. */
export interface Sender extends SenderSettings {
  readonly id: string;
  readonly tenantId: string;
  /** Whether each message goes to all subscriptions that match, not to one destination; never changes. */
  readonly fanOut: boolean;
  /** As a person set it; an inactive one accepts nothing. */
  readonly active: boolean;
  readonly deleted: boolean;
  readonly ingestTokenHash: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** Undefined before it was created; a deleted one stays, marked, and is never brought back. */
export type SenderState = Sender | undefined;

const direct = { fanOut: false, eventTypePath: null, unmatched: null };

function begun(id: string, at: Timestamp): Pick<Sender, "id" | "active" | "deleted" | "createdAt" | "updatedAt"> {
  return { id, active: true, deleted: false, createdAt: at, updatedAt: at };
}

/** Folds one fact in. */
export function evolve(state: SenderState, event: SenderEvent): SenderState {
  if (event.type === "SenderCreated") {
    const { senderId, at, searchFields = [], ...settings } = event.data;
    return { ...settings, ...direct, searchFields, ...begun(senderId, at) };
  }
  if (event.type === "FanOutSenderCreated") {
    const { senderId, at, ...settings } = event.data;
    return { ...settings, fanOut: true, destinationId: null, ...begun(senderId, at) };
  }
  if (!state) return state;
  const updatedAt = event.data.at;
  switch (event.type) {
    case "SenderRenamed":
    case "SenderDestinationChanged":
    case "SenderMappingChanged":
    case "SenderSearchFieldsChanged":
    case "SenderFanOutChanged":
      return { ...withChanges(senderFacts, state, event), updatedAt };
    case "SenderActivated":
      return { ...state, active: true, updatedAt };
    case "SenderDeactivated":
      return { ...state, active: false, updatedAt };
    case "SenderIngestTokenRegenerated":
      return { ...state, ingestTokenHash: event.data.ingestTokenHash, updatedAt };
    case "SenderDeleted":
      return { ...state, deleted: true, updatedAt };
  }
}

export const senders: AggregateType<Sender, SenderEvent> = {
  category: "sender",
  stream: streams.sender,
  evolve,
};

export const mostSearchFields = 5;

/** The third argument of a reviver: the text of a number as it was received. */
interface ReviverContext {
  readonly source?: string;
}

/** What is wrong with the fields, beginning with the name of the one at fault; null where nothing is. */
export function problemOfSearchFields(fields: readonly SearchField[]): string | null {
  for (const [at, { name, path }] of fields.entries()) {
    if (!isTagName(name)) return `searchFields.${at}.name: must be 1 to 32 of a to z, 0 to 9 and _`;
    if (fields.findIndex((other) => other.name === name) < at) return `searchFields.${at}.name: is there twice`;
    if ((path !== "" && !isPointer(path)) || !path.isWellFormed()) {
      return `searchFields.${at}.path: must be a JSON Pointer, for example /order/id`;
    }
  }
  return null;
}

/** The tags of an event: those that the fields make of its body, and the given ones, which win. Undefined: none. */
export function tagsOf(
  fields: readonly SearchField[], body: string, given: Tags | null | undefined,
): Tags | undefined {
  const tags = fields.length === 0 ? given : { ...tagsOfBody(fields, body), ...given };
  return tags && Object.keys(tags).length > 0 ? tags : undefined;
}

/** The tags that the fields make of a JSON body, with every digit of numbers. Fields without a value are skipped. */
export function tagsOfBody(fields: readonly SearchField[], body: string): Tags {
  const value: unknown = JSON.parse(body);
  let exact: unknown;
  const tags = fields.flatMap(({ name, path }) => {
    const tokens = pathOf(path);
    let found = valueAt(value, tokens);
    if (typeof found === "number") found = valueAt(exact ??= withExactNumbers(body), tokens);
    const text = typeof found === "boolean" ? String(found) : found;
    return typeof text === "string" && isTagValue(text) ? [[name, text] as const] : [];
  });
  return Object.fromEntries(tags);
}

/** The value with each number as the text that it was received as. */
function withExactNumbers(body: string): unknown {
  const reviver = (_name: string, value: unknown, { source }: ReviverContext) =>
    (typeof value === "number" ? source : value);
  return JSON.parse(body, reviver as (name: string, value: unknown) => unknown);
}
