import addFormats from "ajv-formats";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { responses } from "../../src/http/openapi/schemas.ts";
import { describedFetch } from "./described.ts";

/** An answer, read whole. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; fails where it is none. */
  readonly json: Record<string, unknown>;
}

/** Parts of a request: headers, and a JSON value or a text or bytes sent as they are. */
export interface HttpOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** Sends one request to the API and reads the answer, of any status that the document allows. */
export async function http(
  method: string,
  url: string,
  { headers = {}, json, body }: HttpOptions = {},
): Promise<HttpAnswer> {
  const sent = json === undefined ? body : JSON.stringify(json);
  const answer = await describedFetch(url, {
    method,
    redirect: "manual",
    headers: { ...(sent === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(sent === undefined ? {} : { body: sent }),
  });
  const text = await answer.text();
  const { status, headers: received } = answer;
  return {
    status,
    headers: received,
    text,
    get json() {
      return JSON.parse(text) as Record<string, unknown>;
    },
  };
}

const ajv = new Ajv2020({ allowUnionTypes: true, keywords: ["discriminator"] });
addFormats.default(ajv);
for (const schema of responses) ajv.addSchema(schema);

/** Fails unless the body satisfies the response schema of that name. Returns the body. */
export function shaped(answer: HttpAnswer, name: string): Record<string, unknown> {
  const check: ValidateFunction | undefined = ajv.getSchema(`urn:webhook-relay:response:${name}`);
  if (!check) throw new Error(`no response schema ${name}`);
  if (!check(answer.json)) throw new Error(`${answer.status} ${answer.text}: ${ajv.errorsText(check.errors)}`);
  return answer.json;
}
