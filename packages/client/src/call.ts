import { errorOf, notTheRelays, unreachable } from "./relay-error.ts";

/** The relay's address, and the caller's credential. */
export interface ClientOptions {
  /** The relay's address, with the path that a proxy may put before its own, such as `https://hooks.example.com`. */
  readonly url: string;
  /** An access token, or a function that is asked for one at each call. Without one a browser's cookie counts. */
  readonly token?: string | (() => string | Promise<string>);
  /** An API key for ingest, prefix `rk_`. */
  readonly apiKey?: string;
  /** Takes the place of the platform's `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** More headers, such as `X-Request-Id`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How an operation is called: an entry of operations.ts. */
export interface Operation {
  readonly method: string;
  /** Names its parameters in braces. */
  readonly path: string;
  readonly credential?: "token" | "apiKey";
  readonly parameters?: true;
  /** Those of its parameters that go into headers. */
  readonly headers?: readonly string[];
  /** Those of its parameters that the query has once for each item; other lists are one text, with commas. */
  readonly repeated?: readonly string[];
  readonly body?: true;
  readonly list?: true;
  /** Whether it answers a text in place of JSON. */
  readonly text?: true;
  /** Whether it answers server-sent events. */
  readonly stream?: true;
  /** Whether it answers lines that are each a JSON value. */
  readonly lines?: true;
}

/** Values of parameters by name; undefined is as if it were not there. */
export type Parameters = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A call of an operation by its name. */
export interface Call {
  readonly id: string;
  readonly operation: Operation;
  readonly parameters: Parameters;
  /** A JSON value; a text or bytes are sent as they are. */
  readonly body?: unknown;
  readonly options: CallOptions;
}

/**
 * Sends a request. Rejects with a RelayError after a failure, the signal's reason, or a TypeError if nothing can be
 * sent.
 */
export async function send(client: ClientOptions, call: Call): Promise<unknown> {
  const { id, operation } = call;
  const { answer, text } = await open(client, call, async (answer) => ({ answer, text: await answer.text() }));
  return operation.text ? text : valueOf(id, answer, text);
}

/** Sends a request and reads its answer with `read`. Rejects as {@link send} does, also if the answer breaks off. */
export async function open<Result>(
  client: ClientOptions, call: Call, read: (answer: Response) => Promise<Result>,
): Promise<Result> {
  const { id, operation, options: { signal } } = call;
  const { fetch = globalThis.fetch } = client;
  const address = addressOf(client.url, call);
  const init: RequestInit = {
    method: operation.method,
    headers: await headersOf(client, call),
    // A redirect would show the credentials to another server.
    redirect: "error",
    ...(call.body === undefined ? {} : { body: textOf(call.body) }),
    ...(signal ? { signal } : {}),
  };
  const asked = async () => {
    const answer = await fetch(address, init);
    return answer.ok ? { result: await read(answer) } : { answer, text: await answer.text() };
  };
  const outcome = await asked().catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable(id, error);
  });
  if ("result" in outcome) return outcome.result;
  throw errorOf(id, outcome.answer, outcome.text, Date.now());
}

function valueOf(id: string, answer: Response, text: string): unknown {
  if (answer.status === 204) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw notTheRelays(id, answer);
  }
}

function addressOf(url: string, { operation, parameters }: Call): string {
  const { path, headers = [], repeated = [] } = operation;
  const inPath = new Set<string>();
  const filled = path.replace(/\{(\w+)\}/g, (_braced, name: string) => {
    inPath.add(name);
    const value = String(parameters[name] ?? "");
    // URLs resolve these: the path would be another operation's.
    if (["", ".", ".."].includes(value)) throw new TypeError(`${name}: must be a value`);
    return encodeURIComponent(value);
  });
  const query = Object.entries(parameters)
    .filter(([name, value]) => value !== undefined && !inPath.has(name) && !headers.includes(name))
    .flatMap(([name, value]) => (repeated.includes(name) ? [value].flat() : [value]).map((each) =>
      `${encodeURIComponent(name)}=${encodeURIComponent(String(each))}`));
  return url.replace(/\/+$/, "") + filled + (query.length === 0 ? "" : `?${query.join("&")}`);
}

async function headersOf(client: ClientOptions, { operation, parameters, body, options }: Call) {
  const headers = new Headers(options.headers);
  for (const name of operation.headers ?? []) {
    const value = parameters[name];
    if (value !== undefined) headers.set(name, String(value));
  }
  if (body !== undefined) headers.set("Content-Type", "application/json");
  const { token, apiKey } = client;
  if (operation.credential === "token" && token !== undefined) {
    headers.set("Authorization", `Bearer ${typeof token === "string" ? token : await token()}`);
  }
  if (operation.credential === "apiKey" && apiKey !== undefined) headers.set("X-Api-Key", apiKey);
  return headers;
}

function textOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  const isSentAsItIs = typeof body === "string" || body instanceof Uint8Array;
  return isSentAsItIs ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body);
}
