/** The part of JSON Schema that our schemas use and the page shows. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly not?: Schema;
  readonly discriminator?: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** Of an array in a query: one text with commas between its items. */
  readonly "x-commas"?: true;
}

/** An answer as the document describes it: its contents by media type, none where it has no body. */
export interface DescribedAnswer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** A JSON body or text, and examples of it by name. */
export interface MediaType {
  readonly schema: Schema;
  /** Of a text in lines: the JSON Schema of a line. */
  readonly "x-lines"?: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

/** Example values by name. */
export type Examples = Readonly<Record<string, object>>;

/** A parameter in a path or a header. */
export interface DescribedParameter {
  readonly description: string;
  readonly schema: Schema;
}

/** The words of an operation, its answers and examples; common answers (400, 401, 404, 5xx) are added. */
export interface Description {
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** The path's parameters; one that is an id, and so a UUID, needs a description only. */
  readonly parameters?: Readonly<Record<string, string | DescribedParameter>>;
  readonly headers?: Readonly<Record<string, DescribedParameter>>;
  readonly examples?: Examples;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** Whether it can do without the engines: then neither 500 nor 503 is added. */
  readonly standsAlone?: boolean;
}

/** The sections of the reference, in the order in which a reader needs them. */
export const tags = {
  Tenants: "Accounts. Creating one creates its first user, an Owner, and its webhook secret.",
  Sessions: "Access tokens for people. They last one hour unless the operator says otherwise.",
  Users: "People of a tenant. Roles, the highest first: Owner, Admin, Developer, Viewer.",
  Invites: "Invitations to people, who then choose their own password. No mail is sent: pass the token on yourself.",
  "API keys": "Keys that producers authenticate with at ingest.",
  "Service accounts": "Machines that call this API, each with a role and with keys that can be limited to scopes.",
  Destinations: "Where events are delivered: a URL, its authentication, and the limit of concurrent requests.",
  Senders: "Further ingest targets, each with a token and optionally a mapping that transforms payloads.",
  Subscriptions: "Destinations that get messages of a sender that fans out.",
  Ingest: "Where producers post events.",
  Messages: "Messages that senders fan out. Each delivery is an event.",
  Events: "Accepted events, their delivery attempts and their histories.",
  Incidents: "Destinations that failed several times in a row: what failed, what changed before, and which events.",
  Replays: "Finished events sent again in the background, also to another destination.",
  Notifications: "Webhooks that tell a tenant of its own destinations.",
  Portal: "Links by which customers of a tenant see their own destinations and events, and the sessions they open.",
  Views: "Filters that people saved, for themselves or for the tenant.",
  Audit: "Who changed what in the tenant, and when, in one list.",
  Operation: "For operators and tools.",
} as const;

/** The section an operation is in. */
export type Tag = keyof typeof tags;

/** An answer with a JSON body of a response schema, named as its file is. */
export function json(schema: string, description: string, example: object): DescribedAnswer {
  const examples = { example: { value: example } };
  const content = { schema: { $ref: `urn:webhook-relay:response:${schema}` }, examples };
  return { description, content: { "application/json": content } };
}

/** An answer with a page of a list. */
export function page(list: string, description: string, item: object): DescribedAnswer {
  return json(`${list}-page`, description, { total: 1, items: [item], nextCursor: null });
}

/** An answer in lines, each a JSON value of a response schema. */
export function lines(schema: string, description: string, ...examples: readonly object[]): DescribedAnswer {
  const value = examples.map((line) => `${JSON.stringify(line)}\n`).join("");
  const text = { type: "string", description: "Lines, each a JSON object." };
  const $ref = `urn:webhook-relay:response:${schema}`;
  const content = { schema: text, "x-lines": { $ref }, examples: { example: { value } } };
  return { description, content: { "application/x-ndjson": content } };
}

/** An answer with a page of a history. */
export function facts(fact: object): DescribedAnswer {
  return page("history", "A page of facts, in the order in which they were written.", fact);
}

/** An answer with a plain text that names the error, as in the examples. */
export function problem(description: string, ...examples: readonly [string, ...string[]]): DescribedAnswer {
  const named = examples.map((value, index) => [`example ${index + 1}`, { value }] as const);
  const schema = { $ref: "urn:webhook-relay:response:problem" };
  return { description, content: { "text/plain": { schema, examples: Object.fromEntries(named) } } };
}

/** The answer to a visitor of the portal whose filter names a destination that the link does not name. */
export const unnamedDestination = problem(
  "The portal's link does not name the destination of the filter.", "destination not found",
);

/** A problem that is solved by signing in, and says with which scheme. */
export function challenge(
  scheme: "Bearer" | "ApiKey",
  description: string,
  ...examples: readonly [string, ...string[]]
): DescribedAnswer {
  const header = { description: "What is needed.", required: true, schema: { type: "string", enum: [scheme] } };
  return { ...problem(description, ...examples), headers: { "WWW-Authenticate": header } };
}

/** The part of a description that says what `AsOf` does. */
export const asOfWords =
  "With `AsOf` it is what it was at that moment, and says so in `asOf`; 404 before it began, and from its deletion " +
  "on. What is deleted by now still answers for earlier moments.";

/** An answer in a format of its own. */
export function file(mediaType: string, description: string, schema: Schema = { type: "string" }): DescribedAnswer {
  return { description, content: { [mediaType]: { schema } } };
}

/** An answer without a body. */
export function nothing(description: string): DescribedAnswer {
  return { description };
}
