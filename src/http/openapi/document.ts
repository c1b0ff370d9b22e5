import type { SchemaObject } from "ajv/dist/2020.js";
import packageJson from "../../../package.json" with { type: "json" };
import login from "../../../schemas/requests/login.json" with { type: "json" };
import type { PortalRight, Role } from "../../kernel/domain/roles.ts";
import type { Access } from "../../kernel/operations/access.ts";
import {
  challenge, problem, tags, type DescribedAnswer, type DescribedParameter, type Examples, type MediaType, type Schema,
} from "../../kernel/operations/description.ts";
import type { Operation } from "../../kernel/operations/operation.ts";
import { referenceTo, schemaComponents, withComponents } from "./schemas.ts";

/** A parameter; those of a path are required. */
export interface Parameter extends DescribedParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly explode?: false;
}

/** An answer, with the headers of every answer. */
export interface Response extends DescribedAnswer {
  readonly headers: Readonly<Record<string, object>>;
}

/** An operation; `security` is empty if no sign-in is needed. */
export interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly []>>[];
  /** Of the operations that need a bearer token; for tools. */
  readonly "x-access"?: Access;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

/** `#/components/<kind>/<name>` */
export interface Reference {
  readonly $ref: string;
}

interface Info {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly license: { readonly name: string; readonly identifier: string };
}

/** The part of OpenAPI 3.1 that we use. */
export interface ApiDocument {
  readonly openapi: "3.1.0";
  readonly info: Info;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly headers: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

const uuid = { type: "string", format: "uuid" };
const headers = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };

/** No scheme has a schema's name: some generated clients have one type for each name. */
const securitySchemes = {
  bearer: ["accessToken", "sessionCookie"], cookie: ["sessionCookie"], portal: ["portalCookie"],
  apiKey: ["producerKey"], none: [],
} as const;

/** The rules for every operation; paragraphs of Markdown. */
export const introduction = [
  "Producers post JSON to an ingest path; the relay stores it, signs it and delivers it over HTTPS to a tenant's " +
  "destination, with retries, circuit breakers and replay. Every attempt stays readable until its event is purged, " +
  "and every change of a setting as long as the tenant.",

  "To start, create a tenant (`POST /api/v1/tenants`), log in (`POST /api/v1/auth/login`), and send the " +
  "`accessToken` with every other request as `Authorization: Bearer …`. A machine sends a key of its service account " +
  "there instead. Register a destination and issue an API key: with the key in `X-Api-Key`, a producer posts to " +
  "`/api/v1/ingest/{tenantId}/{token}`, the token being the destination's `ingestToken`. " +
  "`GET /api/v1/events/{id}/attempts` then tells what became of an event, and `GET /api/v1/events/{id}/history` " +
  "who did what to it, when and why.",

  "Bodies are JSON objects in UTF-8, at most 256 KiB (`RELAY_MAX_BODY_BYTES`) and nested at most 128 deep. Unknown " +
  "fields are ignored, except in bodies of operations on many events; a known field of the wrong type gives 400. " +
  "Ids are UUIDs, in any case. Times are ISO 8601 UTC with milliseconds. Paths are case-sensitive, have no trailing " +
  "slash, and are compared as they are, undecoded; a character that RFC 3986 allows in no path and no query gives " +
  "400. Requests of one tenant never see or touch anything of another's.",

  "Every answer has an `X-Request-Id`. A request may give its own in that header: 1 to 128 visible ASCII characters; " +
  "anything else is ignored, and the service makes one. Histories show it as the `correlationId` of every fact that " +
  "the request wrote, and of the attempts to deliver an event that it had accepted.",

  "A request may name its caller in `X-Relay-Principal`: the `principal.id` that `GET /api/v1/me` answers. Where the " +
  "caller is another, the answer is 412 and nothing is done. Operations without sign-in ignore it.",

  "Errors are plain text that names what is wrong and with which field; only a disposable email is answered with " +
  "JSON. Checks come in this order: 401; 412; 415, 413 and 400 for body and query; 404; 403 for another tenant's, " +
  "then for the role or the scope; 409 and 422. The limits of tenant creation and registration come before all of " +
  "them. 401 says in `WWW-Authenticate` what is needed, `Bearer` or, at ingest, `ApiKey`. Unknown paths give 404, " +
  "other methods 405 with `Allow`; `HEAD` is answered wherever `GET` is, and `OPTIONS` with 204. 429 carries no " +
  "`Retry-After`.",

  "Lists take `Qt` (items per page, 1 to 100, 20 unless said), `Pg` (page, from 1), `CpOrd` (sort field) and " +
  "`TpOrd` (`Asc` or `Desc`, in any case), and answer `total`, the count of all that the filters match, with the " +
  "page's `items`. They show every write that was acknowledged before the request, or answer 503: they are never " +
  "stale. A parameter whose name differs only in case from one of the operation's gives 400 and the right " +
  "spelling; any other unknown parameter is ignored, so a misspelt filter filters nothing.",
].join("\n\n");

/** Answers of many operations. */
const shared = {
  Unauthenticated: challenge(
    "Bearer", "The access token or service key is missing, malformed, expired, or over; or there are two cookies.",
    "Authorization: must be Bearer and an access token or a service key", "the session is over",
    "the service key is not valid",
  ),
  WrongKey: challenge(
    "ApiKey", "The API key is missing or not valid.", "X-Api-Key: is required", "X-Api-Key: is not a valid API key",
  ),
  WrongPassword: challenge(
    "Bearer",
    "An unknown email, a wrong password or an inactive user: the same answer in the same time.",
    "email or password is wrong",
  ),
  Forbidden: problem(
    "The caller's role is too low, its service key lacks the scope, or the page of another site sent the request " +
    "with the browser's cookie.",
    "only Admin or above may …", "the service key lacks the scope …", "only a service key without scopes may do this",
    "a cookie counts with Sec-Fetch-Site: same-origin only; other programs send Authorization",
  ),
  OtherCaller: problem(
    "`X-Relay-Principal` names another caller. Nothing was done.",
    "X-Relay-Principal: is not the id of this request's caller",
  ),
  NotFound: problem(
    "Nothing has this id, or the portal's link names no such thing. What is not a UUID names nothing.", "… not found",
    "not found",
  ),
  BadBody: problem(
    "The body is not a JSON object in UTF-8, or a field of it is missing or not valid.",
    "body: must be valid JSON", "body: is empty; send a JSON object", "…: is required",
  ),
  BadQuery: problem(
    "A parameter of the query is not valid, is given twice, is spelt in another case, or is a filter that only other " +
    "operations have.",
    "Qt: must be at most 100", "qt: must be spelt Qt", "CorrelationId: is no parameter of this operation",
  ),
  TooLarge: problem(
    "The body is larger than `RELAY_MAX_BODY_BYTES`, 256 KiB by default. The connection is closed.",
    "body: must be at most 262144 bytes",
  ),
  WrongType: problem(
    "The body is not `application/json` (or `application/…+json`) in UTF-8, or it is encoded.",
    "Content-Type: must be application/json in UTF-8",
  ),
  HeadersTooLarge: problem(
    "The request line and the headers are larger than 16 KiB together. The connection is closed.",
    "headers: must be at most 16384 bytes, the request line included",
  ),
  Defect: problem(
    "A defect of the service, which its operator learns of. Nothing half-done remains, but the request may have been " +
    "done in full.",
    "something went wrong here; it has been noted",
  ),
  Unavailable: problem(
    "The storage cannot be reached or is overloaded, or lists are behind: try again. Nothing half-done remains, but " +
    "the request may have been done in full.",
    "the service cannot reach its storage; try again",
  ),
} as const;

type SharedName = keyof typeof shared;

/** The OpenAPI document of the operations. */
export function createDocument(operations: readonly Operation[]): ApiDocument {
  const requests = operations.flatMap(({ body }) => (body?.schema["$id"] === undefined ? [] : [body.schema]));
  return {
    openapi: "3.1.0",
    info: {
      title: "Webhook Relay",
      version: packageJson.version,
      description: introduction,
      license: { name: packageJson.license, identifier: packageJson.license },
    },
    servers: [{ url: "/", description: "This relay." }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: pathsOf(operations),
    components: {
      securitySchemes: {
        accessToken: {
          type: "http", scheme: "bearer",
          description: "The `accessToken` of a login, or a key of a service account (`rsk_…`).",
        },
        sessionCookie: {
          type: "apiKey", in: "cookie", name: "__Host-relay",
          description:
            "The cookie of `openSession`, for the relay's own pages. At localhost without TLS it is `relay-local`.",
        },
        portalCookie: {
          type: "apiKey", in: "cookie", name: "__Host-relay-portal",
          description:
            "The cookie of `openPortalSession`, for the portal's pages. At localhost without TLS it is " +
            "`relay-portal-local`.",
        },
        producerKey: { type: "apiKey", in: "header", name: "X-Api-Key", description: "An API key, for ingest." },
      },
      headers: {
        RequestId: {
          description:
            "The id of the request: the one that it gave in its own `X-Request-Id`, or else a new one. Histories " +
            "show it as `correlationId`.",
          required: true,
          schema: { type: "string", minLength: 1, maxLength: 128 },
        },
      },
      responses: Object.fromEntries(Object.entries(shared).map(([name, answer]) => [name, responseOf(answer)])),
      schemas: schemaComponents(requests),
    },
  };
}

function pathsOf(operations: readonly Operation[]): ApiDocument["paths"] {
  const paths: Record<string, Record<string, DocumentedOperation>> = {};
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: documented(operation) };
  }
  return paths;
}

function documented(operation: Operation): DocumentedOperation {
  const { id, tag, summary, description, access, body, examples = {}, answers } = operation;
  const given = Object.entries(answers).map(([status, answer]): [string, Response] => [status, responseOf(answer)]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...withRule(description, access),
    security: schemesOf(operation).map((scheme) => ({ [scheme]: [] })),
    ...(access && { "x-access": access }),
    parameters: parametersOf(operation),
    ...(body && {
      requestBody: { required: !body.isOptional, content: { "application/json": contentOf(body.schema, examples) } },
    }),
    // JavaScript puts keys that look like integers into ascending order.
    responses: { ...impliedAnswers(operation), ...Object.fromEntries(given) },
  };
}

function withRule(description: string | undefined, access: Access | undefined): { readonly description?: string } {
  const paragraphs = [description ?? [], access ? accessRule(access) : []].flat();
  return paragraphs.length === 0 ? {} : { description: paragraphs.join("\n\n") };
}

/** Who may call an operation, as a paragraph of its description. */
export function accessRule({ role, serviceRole, scope, portal }: Access): string {
  if (role === null) return "For visitors of the portal only.";
  const visitors = portal === undefined || portal === "none" ? "" : ` Portal: ${links(portal)}.`;
  if (serviceRole === null) return `Role: ${least(role)}. Service keys: none; for users only.${visitors}`;
  const roleOfKeys = serviceRole === role ? "" : `role ${least(serviceRole)}, and `;
  return `Role: ${least(role)}. Service keys: ${roleOfKeys}${keys(scope)}.${visitors}`;
}

function links(portal: PortalRight | "any"): string {
  return portal === "any" ? "all links" : `links that may \`${portal}\``;
}

function schemesOf({ security, access }: Operation): readonly string[] {
  const schemes = securitySchemes[security];
  return security === "bearer" && access?.portal !== undefined ? [...schemes, "portalCookie"] : schemes;
}

function least(role: Role): string {
  return role === "Viewer" ? "any" : role === "Owner" ? "Owner" : `${role} or above`;
}

function keys(scope: Access["scope"]): string {
  if (scope === null) return "those without scopes";
  return scope === "any" ? "all" : `those with the scope \`${scope}\`, or without scopes`;
}

function impliedAnswers({ path, security, access, query, body, standsAlone }: Operation): Record<string, Reference> {
  const isSignedIn = security === "bearer" || security === "cookie" || security === "portal";
  const names: [boolean, number, SharedName][] = [
    [query !== undefined || isSignedIn, 400, "BadQuery"],
    [body !== undefined, 400, "BadBody"],
    [isSignedIn, 401, "Unauthenticated"],
    [isSignedIn, 403, "Forbidden"],
    [isSignedIn, 412, "OtherCaller"],
    [security === "apiKey", 401, "WrongKey"],
    [body?.schema["$id"] === login.$id, 401, "WrongPassword"],
    [path.includes(":id") || (isSignedIn && access?.portal === undefined), 404, "NotFound"],
    [body !== undefined, 413, "TooLarge"],
    [body !== undefined, 415, "WrongType"],
    [true, 431, "HeadersTooLarge"],
    [!standsAlone, 500, "Defect"],
    [!standsAlone, 503, "Unavailable"],
  ];
  return Object.fromEntries(
    names.filter(([given]) => given).map(([, status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

function parametersOf({ parameters = {}, query, headers: own = {} }: Operation): Parameter[] {
  const inPath = Object.entries(parameters).map(([name, given]): Parameter => {
    const described = typeof given === "string" ? { description: given, schema: uuid } : given;
    return { name, in: "path", required: true, ...described };
  });
  const { properties = {}, required = [] } = (query?.schema ?? {}) as Schema;
  const inQuery = Object.entries(properties).map(([name, given]): Parameter => {
    const { description = "", "x-commas": isOneText, ...schema } = given;
    const isRequired = required.includes(name);
    return { name, in: "query", required: isRequired, description, ...(isOneText && { explode: false }), schema };
  });
  const inHeader = Object.entries(own).map(([name, described]): Parameter =>
    ({ name, in: "header", required: false, ...described }));
  return [...inPath, ...inQuery, ...inHeader];
}

function contentOf(schema: SchemaObject, examples: Examples): MediaType {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }] as const);
  return { schema: referenceTo(schema), examples: Object.fromEntries(named) };
}

function responseOf(answer: DescribedAnswer): Response {
  const { description, headers: own, content } = answer;
  return { description, headers: { ...headers, ...own }, ...(content && { content: withComponents(content) }) };
}
