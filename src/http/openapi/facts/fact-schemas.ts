import type { SchemaObject } from "ajv/dist/2020.js";
import destination from "../../../../schemas/responses/destination.json" with { type: "json" };
import eventStatus from "../../../../schemas/responses/event-status.json" with { type: "json" };
import { auditTypes, facts, histories, schemaOf } from "../../../features/facts.ts";
import type { FactDeclaration } from "../../../kernel/domain/fact.ts";

const { headers: maskedHeaders, clientCertificate: shownCertificate } = destination.properties;

type Properties = Readonly<Record<string, SchemaObject>>;
type ObjectSchema = { readonly properties: Properties; readonly required: readonly string[] };
const types = Object.values(histories).flat();

/** Descriptions of fields that the schema of the fact does not describe. */
export const fieldMeanings: Readonly<Record<string, string>> = {
  acceptedAt: "When the event was accepted.",
  answer: "The receiver's answer; null without one.",
  apiKeyId: "The API key that the event was posted with.",
  attempt: "The number of the attempt.",
  authType: "The kind of authentication; null for none.",
  body: "The first part of the answer's body.",
  cancellationId: "The cancellation's id.",
  destinationId: "The destination's id.",
  destinationRevision: "The `revision` of the newest fact of the destination that the attempt was made under.",
  error: "Why it failed, in words.",
  eventId: "The event's id.",
  expiresAt: "When it expires; null for never.",
  expression: "The JMESPath expression.",
  from: "The value before.",
  headers: "The headers of the answer.",
  idempotencyKey: "The idempotency key; null without one.",
  inviteId: "The invite's id.",
  keyId: "The id of the key.",
  language: "Always `jmespath`.",
  last4: "The last four characters of the key.",
  leaseUntil: "When the probe counts as lost, unless its outcome is known before.",
  maxTrys: "Attempts before an event becomes a CriticalFailure, and consecutive failures that open the circuit.",
  name: "The name.",
  nextAttemptAt: "When the next attempt is due.",
  portalLinkId: "The portal link's id.",
  position: "The position of the circuit.",
  prefix: "What the key begins with.",
  probe: "Whether the attempt is the probe of the circuit.",
  publicKey: "The public part of the Ed25519 key.",
  purgeId: "The purge's id.",
  reason: "The reason.",
  replayId: "The replay's id.",
  retryCount: "Failed attempts since acceptance or the last replay or resend.",
  role: "The role.",
  scopes: "What the key is limited to; null where it may do all that the role may.",
  secretFingerprint: "The fingerprint of the webhook secret that signed the attempt.",
  senderId: "The sender's id; null where the event was posted to its destination directly.",
  serverRateLimit: "Most requests in flight at once.",
  serviceAccountId: "The service account's id.",
  signingSecretFingerprint: "The fingerprint of the signing secret.",
  status: "The user's status.",
  statusCode: "The status code of the answer.",
  tenantId: "The tenant's id.",
  truncated: "Whether the answer was longer than what was kept of it.",
  url: "The destination's URL.",
  usedAt: "When the key was used.",
  userId: "The user's id.",
  webhookSecretFingerprint: "The fingerprint of the webhook secret.",
  worker: "The process that made the attempt.",
};

/** Schemas of facts in histories: one for each type and for future types, and the unions. */
export const factSchemas: readonly SchemaObject[] = [
  ...types.map((type) => factSchema(type)),
  otherFact(),
  union("history-item", "A fact of a history, by its `type`.", types),
  union("audit-item", "A fact of the audit, by its `type`.", auditTypes),
];

function factSchema(type: string): SchemaObject {
  return extension(`${type}Fact`, declared(type).meaning, {
    type: { type: "string", enum: [type], description: `Always ${type}.` },
    data: shownData(type),
  });
}

/** Excludes known types, so that a fact matches one member of a union. */
function otherFact(): SchemaObject {
  return extension("OtherFact", "A fact of a type that this version of the description does not know.", {
    type: { type: "string", not: { enum: types }, description: "Any other type." },
    data: { type: "object", additionalProperties: true, description: "The fields of the fact." },
  });
}

function extension(name: string, description: string, properties: Properties): SchemaObject {
  const own = { type: "object", properties, required: Object.keys(properties) };
  return { $id: idOf(name), description, allOf: [{ $ref: idOf("fact") }, own] };
}

/** OpenAPI implies each member's own name as a discriminator. */
function union(name: string, description: string, members: readonly string[]): SchemaObject {
  const mapping = Object.fromEntries([
    ...members.map((type) => [type, idOf(`${type}Fact`)] as const), ["OtherFact", idOf("OtherFact")] as const,
  ]);
  const oneOf = Object.values(mapping).map(($ref) => ({ $ref }));
  return { $id: idOf(name), description, oneOf, discriminator: { propertyName: "type", mapping } };
}

function idOf(name: string): string {
  return `urn:webhook-relay:response:${name}`;
}

function shownData(type: string): SchemaObject {
  const fact = declared(type);
  const { properties, required } = schemaOf(type, fact) as unknown as ObjectSchema;
  const fields = fact.shown ?? [];
  const names = Object.keys(properties).filter((name) => fields === "all" || fields.includes(name));
  const described = Object.fromEntries(names.map((name) => fieldOf(name, properties[name] ?? {})));
  const always = names.filter((name) => required.includes(name)).map((name) => (name === "auth" ? "authType" : name));
  return { type: "object", properties: described, required: always, description: "The fields of the fact." };
}

function fieldOf(name: string, schema: SchemaObject): [string, SchemaObject] {
  if (name === "headers") return [name, { ...maskedHeaders, description: schema["description"] as string }];
  if (name === "clientCertificate") {
    return [name, { ...shownCertificate, type: "object", description: schema["description"] as string }];
  }
  if (name !== "auth") return [name, fieldSchema(name, schema)];
  const { type, enum: kinds } = (schema["properties"] as Properties)["type"] as { type: string; enum: string[] };
  const isOptional = [schema["type"]].flat().includes("null");
  const values = isOptional ? { type: [type, "null"], enum: [...kinds, null] } : { type, enum: kinds };
  return ["authType", { ...values, description: fieldMeanings["authType"] }];
}

function fieldSchema(name: string, { additionalProperties, ...schema }: SchemaObject): SchemaObject {
  const description = (schema["description"] as string | undefined) ?? fieldMeanings[name];
  if (String(schema["enum"]) === String(eventStatus.enum)) return { $ref: eventStatus.$id, description };
  const inner = Object.entries((schema["properties"] ?? {}) as Properties).map(([key, one]) =>
    [key, fieldSchema(key, one)] as const);
  return {
    ...schema,
    description,
    ...(inner.length > 0 && { properties: Object.fromEntries(inner) }),
    ...(Boolean(additionalProperties) && { additionalProperties: additionalProperties as object | true }),
    ...(typeof schema["items"] === "object" && { items: itemSchema(schema["items"] as SchemaObject) }),
    ...(Array.isArray(schema["oneOf"]) && { oneOf: (schema["oneOf"] as SchemaObject[]).map(itemSchema) }),
  };
}

function itemSchema(schema: SchemaObject): SchemaObject {
  const { description: _none, ...item } = fieldSchema("", schema);
  return item;
}

function declared(type: string): FactDeclaration {
  return facts.get(type)!;
}
