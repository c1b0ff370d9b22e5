import addFormats from "ajv-formats";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { DocumentedOperation, Response as DescribedResponse } from "../../src/http/openapi/document.ts";
import { apiDocument, closedDocument } from "./document.ts";

/** The checked parts of an answer. */
interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(closedDocument, "document");

/** Paths that are spelled out come before those with parameters. */
const paths = Object.entries(apiDocument.paths)
  .map(([path, operations]) => ({
    path,
    operations,
    form: new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
  }))
  .sort((a, b) => Number(a.path.includes("{")) - Number(b.path.includes("{")));

/**
 * Fails unless the document promises the answer: a documented status of the operation, its headers, its content type, a
 * body that satisfies its schema; 404 on any other path, and 405 with `Allow`, or 204, to other methods.
 */
export function checkDescribed(method: string, url: string, answer: ReceivedAnswer): void {
  const problem = problemOf(method, new URL(url).pathname, answer);
  if (problem === undefined) return;
  throw new Error(`${method} ${url} is not answered as the document says: ${problem}\n${answer.status} ${answer.text}`);
}

/**
 * The platform's `fetch`; rejects unless the document promises the answer. Of server-sent events, which do not end, the
 * answer is the first piece.
 */
export const describedFetch: typeof fetch = async (input, init) => {
  const answer = await finite(await fetch(input, init));
  const { status, headers } = answer;
  const { method, url } = input instanceof Request ? input : { method: init?.method ?? "GET", url: String(input) };
  checkDescribed(method, url, { status, headers, text: await answer.clone().text() });
  return answer;
};

async function finite(answer: Response): Promise<Response> {
  const { status, headers } = answer;
  if (!answer.body || !headers.get("content-type")?.startsWith("text/event-stream")) return answer;
  const reader = (answer.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new Response(value ?? null, { status, headers });
}

function problemOf(method: string, pathname: string, answer: ReceivedAnswer): string | undefined {
  const { status, headers } = answer;
  if (headers.get("x-request-id") === null) return "no X-Request-Id";
  const found = paths.find(({ form }) => form.test(pathname));
  if (!found) return status === 404 ? undefined : "no such path in the document";
  const name = (method === "HEAD" ? "GET" : method).toLowerCase();
  const operation = found.operations[name];
  if (operation) return problemWith(operation, ["paths", found.path, name], answer, method === "HEAD");
  if (status !== (method === "OPTIONS" ? 204 : 405)) return "no such method";
  const methods = Object.keys(found.operations).map((known) => known.toUpperCase());
  const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].sort().join(", ");
  return headers.get("allow") === allowed ? undefined : `Allow is not ${allowed}`;
}

function problemWith(
  { operationId, responses }: DocumentedOperation,
  place: readonly string[],
  { status, headers, text }: ReceivedAnswer,
  headOnly: boolean,
): string | undefined {
  const given = responses[status];
  if (!given) return `status ${status} is not among those of ${operationId}`;
  const shared = "$ref" in given ? (given.$ref.split("/").at(-1) ?? "") : undefined;
  const response = shared === undefined ? (given as DescribedResponse) : apiDocument.components.responses[shared];
  const named = Object.keys(response?.headers ?? {});
  const isOptional = (header: object | undefined) => header !== undefined && "required" in header && !header.required;
  const absent = named.find((name) => !isOptional(response?.headers[name]) && !headers.has(name));
  if (absent !== undefined) return `no ${absent}`;
  const challenged = headers.has("WWW-Authenticate");
  if (challenged && !named.includes("WWW-Authenticate")) return "WWW-Authenticate is not described";
  if (headOnly || !response?.content) return text === "" ? undefined : "there is a body";
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  if (!response.content[type]) return `the content type is ${type}`;
  const at = shared === undefined ? [...place, "responses", String(status)] : ["components", "responses", shared];
  const check = checkOf([...at, "content", type, "schema"]);
  return check(type === "application/json" ? JSON.parse(text) : text) ? undefined : ajv.errorsText(check.errors);
}

const checks = new Map<string, ValidateFunction>();

/** The check of the schema at a place of the document. */
function checkOf(place: readonly string[]): ValidateFunction {
  const pointer = place.map((key) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  const known = checks.get(pointer) ?? ajv.compile({ $ref: `document#/${pointer}` });
  checks.set(pointer, known);
  return known;
}
