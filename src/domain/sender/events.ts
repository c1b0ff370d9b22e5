import { at, fact, type EventsOf } from "../fact.ts";
import { list, nullable, object, oneOf, optional, text, uuid, type ValueOf } from "../schema.ts";
import { searchField } from "./search-fields.ts";

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
    audit: "sender",
    setting: "the sender's name",
  }),
  SenderDestinationChanged: fact({
    data: { ...ids, destinationId: uuid("Where its events are delivered.") },
    meaning: "The destination of the sender changed.",
    words: "pointed the sender to the destination {destinationId}",
    shown: [...told, "destinationId"],
    audit: "sender",
    setting: "the sender's destination",
  }),
  SenderMappingChanged: fact({
    data: { ...ids, mapping },
    meaning: "The mapping changed or was removed.",
    words: ["changed the mapping{mapping:unsaid}", "removed the mapping"],
    shown: [...told, "mapping"],
    audit: "sender",
    setting: "the sender's mapping",
  }),
  SenderSearchFieldsChanged: fact({
    data: { ...ids, searchFields: list(searchField, "Fields of received bodies that become tags from now on.") },
    meaning: "Other fields of received bodies become tags, or none any longer.",
    words: "changed the search fields",
    shown: [...told, "searchFields"],
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
