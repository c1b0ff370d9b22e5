import { readdirSync, readFileSync } from "node:fs";
import type { SchemaObject } from "ajv/dist/2020.js";
import { extended } from "../../kernel/operations/extended.ts";
import { factSchemas } from "./facts/fact-schemas.ts";

const folder = new URL("../../../schemas/responses/", import.meta.url);
const names = readdirSync(folder).map((file) => file.replace(/\.json$/, ""));

/** The schemas of all answers' bodies: those in files, those of facts, and pages of lists. */
export const responses: readonly SchemaObject[] = [
  ...names.map(schemaOf),
  ...factSchemas,
  page("api-key", "Page of API keys", "API keys, and how many there are."),
  page("audit", "Page of the audit", "Facts, and how many the filters match.", "audit-item"),
  page("attempt", "Page of delivery attempts", "Delivery attempts, and how many there are."),
  page("destination", "Page of destinations", "Destinations, and how many there are."),
  page("event", "Page of events", "Events, and how many the filters match.", "listed-event"),
  page("history", "Page of a history", "Facts about one thing, and how many there are.", "history-item"),
  page("invite", "Page of invites", "Invites, and how many there are."),
  page("refusal", "Page of refused requests", "Groups of refused ingest requests, and how many the filters match."),
  page("replay", "Page of replays", "Replays, and how many there are."),
  page("sender", "Page of senders", "Senders, and how many there are."),
  page("service-account", "Page of service accounts", "Service accounts, and how many there are."),
  page("service-key", "Page of service keys", "Keys of a service account, and how many there are."),
  page("user", "Page of users", "Users, and how many the filters match."),
].sort(({ $id: one = "" }, { $id: other = "" }) => (one < other ? -1 : 1));

/** A schema as a file has it. */
interface ResponseFile extends SchemaObject {
  /** The name of the file that this one extends: this one has only the differences. */
  readonly extends?: string;
  /** Its required fields, if they are fewer than those of the extended file. */
  readonly always?: readonly string[];
  /** Fields of the extended file that it has not. */
  readonly without?: readonly string[];
  /** Fields that need not be there. */
  readonly optional?: readonly string[];
  /** The example of an answer, for the operations (examples.ts). */
  readonly example?: object;
}

function schemaOf(name: string): SchemaObject {
  const text = readFileSync(new URL(`${name}.json`, folder), "utf8");
  const { extends: base, always, without = [], optional = [], example: _, ...own } = JSON.parse(text) as ResponseFile;
  if (base === undefined) return own;
  const whole = extended(schemaOf(base), own);
  const properties = Object.entries(whole["properties"] as object).filter(([field]) => !without.includes(field));
  const fewer = (whole["required"] as readonly string[]).filter((field) => ![...without, ...optional].includes(field));
  return { ...whole, properties: Object.fromEntries(properties), required: always ?? fewer };
}

function page(list: string, title: string, description: string, item = list): SchemaObject {
  return {
    $id: `urn:webhook-relay:response:${list}-page`,
    title,
    description,
    type: "object",
    properties: {
      total: {
        type: "integer", minimum: 0, description: "How many there are on all pages. Left out with `Total` false.",
      },
      items: {
        type: "array",
        items: { $ref: `urn:webhook-relay:response:${item}` },
        description: "The page's items, in the order asked for.",
      },
      nextCursor: {
        type: ["string", "null"],
        description: "The `Cursor` of the next page; null if this one is the last.",
      },
    },
    required: ["items", "nextCursor"],
  };
}
