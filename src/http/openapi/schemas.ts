import { readdirSync, readFileSync } from "node:fs";
import type { SchemaObject } from "ajv/dist/2020.js";
import type { Schema } from "../../kernel/operations/description.ts";
import { extended } from "../../kernel/operations/extended.ts";
import { factSchemas } from "./facts/fact-schemas.ts";

interface SchemaFile extends Schema {
  readonly $id?: string;
  readonly $schema?: string;
  readonly title?: string;
}

interface ResponseFile extends SchemaObject {
  readonly extends?: string;
  /** Its required fields, if fewer than those of the extended file. */
  readonly always?: readonly string[];
  /** Fields of the extended file that it lacks. */
  readonly without?: readonly string[];
  readonly optional?: readonly string[];
  readonly example?: object;
}

const folder = new URL("../../../schemas/responses/", import.meta.url);
const names = readdirSync(folder).map((file) => file.replace(/\.json$/, ""));

/** Schemas of all answers: those in files, of facts, and pages of lists. */
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
  page("message-summary", "Page of messages", "Messages, and how many the filters match."),
  page("replay", "Page of replays", "Replays, and how many there are."),
  page("incident", "Page of incidents", "Incidents, and how many there are."),
  page("view", "Page of views", "Views, and how many there are."),
  page(
    "notification-subscription", "Page of notification subscriptions",
    "Notification subscriptions, and how many there are.",
  ),
  page("portal-link", "Page of portal links", "Portal links, and how many there are."),
  page("sender", "Page of senders", "Senders, and how many there are."),
  page("service-account", "Page of service accounts", "Service accounts, and how many there are."),
  page("service-key", "Page of service keys", "Keys of a service account, and how many there are."),
  page("subscription", "Page of subscriptions", "Subscriptions, and how many the filters match."),
  page("user", "Page of users", "Users, and how many the filters match."),
].sort(({ $id: one = "" }, { $id: other = "" }) => (one < other ? -1 : 1));

/** Schemas by component name: those of all answers and of the request bodies. */
export function schemaComponents(requests: readonly SchemaFile[]): Record<string, Schema> {
  const all = [...requests.map(withSpelledDefaults), ...responses];
  return Object.fromEntries(all.map((schema) => [nameOf(schema.$id ?? ""), plain(schema)]));
}

/** A reference to a schema with an id, else the schema. */
export function referenceTo(schema: SchemaFile): Schema {
  return schema.$id === undefined ? schema : { $ref: pointerTo(schema.$id) };
}

/** Turns ids of schemas into references. */
export function withComponents<Value>(value: Value): Value {
  if (typeof value === "string") return pointerTo(value) as Value;
  if (Array.isArray(value)) return (value as unknown[]).map(withComponents) as Value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withComponents(inner)])) as Value;
}

/** Some generated clients require fields that have a default. */
function withSpelledDefaults(schema: SchemaFile): SchemaFile {
  const spelled = Object.entries(schema.properties ?? {}).map(([name, { default: standIn, ...property }]) => {
    const { description = "" } = property;
    const words = standIn === undefined ? description : `${description} ${JSON.stringify(standIn)} if absent.`;
    return [name, { ...property, description: words }] as const;
  });
  return { ...schema, properties: Object.fromEntries(spelled) };
}

/** Drops keywords of files: some generated clients name types by the title. */
function plain(schema: SchemaFile): Schema {
  const { $schema: _dialect, $id: _id, title: _title, ...rest } = schema;
  return withComponents(rest);
}

function pointerTo(text: string): string {
  return text.startsWith("urn:webhook-relay:") ? `#/components/schemas/${nameOf(text)}` : text;
}

/** `…:response:api-key` becomes `ApiKey`, `…:request:login` becomes `LoginRequest`. */
function nameOf(id: string): string {
  const [, kind, name = ""] = /:(request|response):(.+)$/.exec(id) ?? [];
  const words = [...name.split("-"), ...(kind === "request" ? [kind] : [])];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
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
