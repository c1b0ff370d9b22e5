import { createClient, RelayError, type ClientOptions, type RelayClient } from "../../packages/client/src/index.ts";
import { operations } from "../../packages/client/src/operations.ts";
import { describedFetch } from "./described.ts";

/** A JSON object as it comes. */
export type Json = Record<string, unknown>;

/** A field that is a text or a number; empty if absent. */
export function text(json: Json, field: string): string {
  const value = json[field];
  return typeof value === "string" || typeof value === "number" ? value.toString() : "";
}

/** A client of the relay at an address; a call rejects unless its answer is as the API's description says. */
export function relayClient(url: string, options: Omit<ClientOptions, "url" | "fetch"> = {}): RelayClient {
  return createClient({ url, fetch: describedFetch, ...options });
}

/** Whether a request was answered 503. */
export function isUnavailable(error: unknown): error is RelayError {
  return error instanceof RelayError && error.status === 503;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters?: true;
}

/** The operations by the forms of their paths; paths that are spelled out come before those with parameters. */
const forms = Object.entries<Operation>(operations)
  .map(([id, operation]) => {
    const pattern = operation.path.replaceAll(".", "\\.").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    return { id, operation, form: new RegExp(`^${pattern}$`) };
  })
  .sort((a, b) => Number(a.operation.path.includes("{")) - Number(b.operation.path.includes("{")));

type Method = (...given: unknown[]) => Promise<Json>;

/** The client's operations by method and path, as test data names them. Rejects as the client does. */
export class ApiClient {
  readonly url: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #client: Readonly<Record<string, Method>>;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url;
    this.headers = headers;
    this.#client = createClient({ url }) as unknown as Readonly<Record<string, Method>>;
  }

  /** The same API with more headers on every request. */
  as(headers: Readonly<Record<string, string>>): ApiClient {
    return new ApiClient(this.url, { ...this.headers, ...headers });
  }

  get(path: string): Promise<Json> {
    return this.#call("GET", path);
  }

  post(path: string, body: Json, headers: Readonly<Record<string, string>> = {}): Promise<Json> {
    return this.#call("POST", path, body, headers);
  }

  patch(path: string, body: Json): Promise<Json> {
    return this.#call("PATCH", path, body);
  }

  async delete(path: string): Promise<void> {
    await this.#call("DELETE", path);
  }

  async #call(method: string, target: string, body?: Json, more: Readonly<Record<string, string>> = {}): Promise<Json> {
    const [path = "", query] = target.split("?");
    const found = forms.find(({ operation, form }) => operation.method === method && form.test(path));
    if (!found) throw new Error(`no operation ${method} ${path}`);
    const { id, operation, form } = found;
    const parameters = { ...form.exec(path)?.groups, ...Object.fromEntries(new URLSearchParams(query)) };
    const call = this.#client[id] as Method;
    return call(
      ...(operation.parameters ? [parameters] : []),
      ...("body" in operation ? [body ?? {}] : []),
      { headers: { ...this.headers, ...more } },
    );
  }
}
