import { examples } from "../../../kernel/domain/examples.ts";
import { at, fact, type EventsOf } from "../../../kernel/domain/fact.ts";
import { anyText, nullable, text, time, uuid } from "../../../kernel/domain/schema.ts";

const told = ["keyId", "tenantId", "at"] as const;

/** Facts of an `apiKey-<id>` stream. The key itself is stored nowhere, only its SHA-256. */
export const apiKeyFacts = {
  ApiKeyIssued: fact({
    data: {
      keyId: uuid(), tenantId: uuid(), name: text(), keyHash: text("SHA-256 of the key."), prefix: anyText(),
      last4: anyText(), expiresAt: nullable(time()), at,
    },
    meaning: "The API key was issued.",
    words: [
      "created the API key “{name}” ({prefix}…{last4}), until {expiresAt}",
      "created the API key “{name}” ({prefix}…{last4}), without an end",
    ],
    shown: [...told, "name", "prefix", "last4", "expiresAt"],
    audit: "apiKey",
    creates: true,
    sets: { status: "Active" },
  }),
  ApiKeyUsed: fact({
    data: { keyId: uuid(), tenantId: uuid(), usedAt: time(), at },
    meaning: "The latest use of the API key, noted before a purge of the events that show it.",
    words: "noted that the API key was last used at {usedAt}",
    shown: [...told, "usedAt"],
    audit: false,
  }),
  ApiKeyRotated: fact({
    data: {
      keyId: uuid(), tenantId: uuid(), successorId: uuid("The key issued in its place."),
      expiresAt: time("When the rotated key ends."), at,
    },
    meaning: "The API key was rotated: another one was issued in its place, and it ends itself.",
    words: "rotated the API key, which works until {expiresAt}",
    shown: [...told, "successorId", "expiresAt"],
    changes: ["expiresAt"],
    audit: "apiKey",
  }),
  ApiKeyRevoked: fact({
    data: { keyId: uuid(), tenantId: uuid(), keyHash: text(), at },
    meaning: "The API key was deleted.",
    words: "deleted the API key",
    shown: told,
    audit: "apiKey",
    sets: { status: "Revoked" },
    example: { keyId: examples.apiKeyId, tenantId: examples.tenantId, at: examples.at },
  }),
};
export type ApiKeyEvent = EventsOf<typeof apiKeyFacts>;
