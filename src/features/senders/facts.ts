import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../kernel/domain/fact.ts";
import { list, nullable, object, oneOf, optional, text, uuid, type ValueOf } from "../../kernel/domain/schema.ts";
import { withChanges } from "../../kernel/domain/settings.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import { searchField, type SearchField } from "./search-fields.ts";

const mapping = nullable(
  object({ language: oneOf(["jmespath"]), expression: text() }),
  "How what is received becomes what is delivered; null where it is delivered unchanged.",
);
/** How a sender transforms received bodies. */
export type Mapping = NonNullable<ValueOf<typeof mapping>>;

const ids = { senderId: uuid(), tenantId: uuid(), at };
const told = ["senderId", "tenantId", "at"] as const;

/** Facts of a `sender-<id>` stream. */
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
    replaces: "ingest token",
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
/** One of {@link senderFacts}. */
export type SenderEvent = EventsOf<typeof senderFacts>;

/** The settings of a sender, each with a fact that changes it. */
export interface SenderSettings {
  readonly name: string;
  readonly destinationId: string;
  /** Makes the payload from the received body; null: the body is delivered as received. */
  readonly mapping: Mapping | null;
  /** Fields of received bodies that become tags. */
  readonly searchFields: readonly SearchField[];
}

/** A sender as folded from its own stream. */
export interface Sender extends SenderSettings {
  readonly id: string;
  readonly tenantId: string;
  /** As a person set it; an inactive one accepts nothing. */
  readonly active: boolean;
  readonly deleted: boolean;
  /** SHA-256 of the token, hex. */
  readonly ingestTokenHash: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** Undefined before it was created; a deleted one stays, marked, and is never brought back. */
export type SenderState = Sender | undefined;

/** Folds one fact in. */
export function evolve(state: SenderState, event: SenderEvent): SenderState {
  if (event.type === "SenderCreated") {
    const { senderId, at, searchFields = [], ...settings } = event.data;
    return { ...settings, searchFields, id: senderId, active: true, deleted: false, createdAt: at, updatedAt: at };
  }
  if (!state) return state;
  const updatedAt = event.data.at;
  switch (event.type) {
    case "SenderRenamed":
    case "SenderDestinationChanged":
    case "SenderMappingChanged":
    case "SenderSearchFieldsChanged":
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
