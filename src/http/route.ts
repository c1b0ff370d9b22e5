import type { IncomingHttpHeaders } from "node:http";
import type { SchemaObject } from "ajv/dist/2020.js";
import type { Session } from "../application/accounts/sessions.ts";
import { actorOf, isService, type ServiceCaller } from "../application/caller.ts";
import type { Origin } from "../application/origin.ts";
import type { PageInParts } from "../application/paging.ts";
import type { Actor } from "../domain/domain-event.ts";
import { refuse } from "../domain/refusal.ts";
import { barrier, type Access } from "./access.ts";
import type { BodyReader } from "./requests/body-reader.ts";
import { uuidOf } from "./requests/identifiers.ts";
import type { JsonObject } from "./requests/json-text.ts";
import type { QueryReader } from "./requests/query-parameters.ts";

/** An answer: a JSON body, a page, a text, or nothing. */
export interface Answer {
  readonly status: number;
  readonly body?: object;
  /** Answered as the JSON of its total and its items. */
  readonly page?: PageInParts<object>;
  readonly text?: string | Buffer;
  /**
   * A text of any length, in pieces. Status and headers are sent at once, each piece once the client has taken most of
   * those before. Only the piece at hand counts in the shared memory. An error ends the connection; when the client
   * goes the iterator is returned, and the signal of {@link Exchange.gone} fires. A client that sends no more is gone.
   */
  readonly stream?: AsyncIterable<string>;
  /** Memory that a stream takes for as long as it lasts, bytes: its pieces, and what they are made of, do not count. */
  readonly holds?: number;
  /** Content type of a text or stream; plain unless said. */
  readonly type?: string;
  /** In place of, or beside, those of every answer. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** One request on its way through its route. */
export interface Exchange {
  readonly params: Readonly<Record<string, string>>;
  /** The query string, without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  /** Where the request came from. */
  readonly address: string;
  /**
   * The session of the access token or the cookie, or the service account of the key. Throws a Refusal
   * (unauthenticated, forbidden).
   */
  authenticate(): Promise<Session | ServiceCaller>;
  /** The JSON object in the body. Throws a Refusal (invalid, too-large, wrong-type). */
  body(): Promise<JsonObject>;
  /**
   * Holds memory for an answer like this one, for a command that must change nothing where it could not be answered.
   * Rejects with a Refusal (unavailable).
   */
  readonly holdAnswer: (like: object) => Promise<void>;
  /** Fires once the answer is sent, or its client has gone or sends no more: of answers that take long. */
  readonly gone: () => AbortSignal;
}

/** The methods that routes have; HEAD, OPTIONS and 405 follow from them (docs/api.md). */
export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** An operation as callers see it. The readers of its query and body have the schemas that document them. */
export interface Operation {
  readonly method: Method;
  /** Names its parameters with colons. */
  readonly path: string;
  /**
   * The credential that callers must send: an access token or else a browser's cookie, the cookie, an API key, or none.
   */
  readonly security: "bearer" | "cookie" | "apiKey" | "none";
  /** Of the signed-in operations. */
  readonly access?: Access;
  readonly query?: { readonly schema: SchemaObject };
  readonly body?: { readonly schema: SchemaObject };
}

/** An operation with its implementation. */
export interface Route extends Operation {
  /** Carries the operation out. Thrown errors are answered as errors.ts says: a Refusal by its kind. */
  readonly run: (exchange: Exchange) => Promise<Answer>;
}

/** The input of the handler of a signed-in operation. */
export interface Call<Input> extends Exchange {
  readonly caller: Session | ServiceCaller;
  readonly origin: Origin;
  /** The body, or the parameters of the query. */
  readonly input: Input;
}

/** An operation for everyone. */
export function open(method: Method, path: string, run: (exchange: Exchange) => Promise<Answer>): Route {
  return { method, path, security: "none", run };
}

/** An operation for everyone, with a body. The handler reads it once it has let the caller in. */
export function openWith<Body>(
  method: Method,
  path: string,
  body: BodyReader<Body>,
  handle: (exchange: Exchange, read: () => Promise<Body>) => Promise<Answer>,
): Route {
  const run = (exchange: Exchange) => handle(exchange, async () => body(await exchange.body()));
  return { method, path, security: "none", body, run };
}

/** A signed-in operation with neither body nor query. */
export function signedIn(
  access: Access, method: Method, path: string, handle: (call: Call<undefined>) => Promise<Answer>,
): Route {
  const run = async (exchange: Exchange) =>
    carriedOut({ ...(await opened(exchange, access)), input: undefined }, handle);
  return { method, path, security: "bearer", access, run };
}

/**
 * A signed-in operation with a body: the caller is checked before the body is read, and again after it. A body may take
 * its time, and a session that ends meanwhile is over.
 */
export function signedInWith<Body>(
  access: Access,
  method: Method,
  path: string,
  body: BodyReader<Body>,
  handle: (call: Call<Body>) => Promise<Answer>,
): Route {
  const run = async (exchange: Exchange) => {
    await exchange.authenticate();
    const read = await exchange.body();
    const call = await opened(exchange, access);
    return carriedOut({ ...call, input: body(read) }, handle);
  };
  return { method, path, security: "bearer", access, body, run };
}

/** A signed-in GET with a query, as of a list. */
export function signedInQuery<Parameters>(
  access: Access,
  path: string,
  query: QueryReader<Parameters>,
  handle: (call: Call<Parameters>) => Promise<Answer>,
): Route {
  const run = async (exchange: Exchange) => {
    const opening = await opened(exchange, access);
    const { caller: { tenantId }, params } = opening;
    const call = { ...opening, input: query(exchange.query, JSON.stringify([path, params, tenantId])) };
    // No record could be missing. Its answer may be a long one.
    if (!path.includes(":id")) requireUnbarred(call);
    return carriedOut(call, handle);
  };
  return { method: "GET", path, security: "bearer", access, query, run };
}

/** The id in a request's path, as {@link uuidOf} takes it. */
export function pathId({ params }: Exchange): string {
  return uuidOf(params["id"] ?? "");
}

/** The origin of a request, for the log. */
export function originOf(actor: Actor, requestId: string): Origin {
  return { actor, correlationId: requestId, causationId: null };
}

/** The session of the caller. Throws a Refusal (forbidden) where that is a service account. */
export function sessionOf({ caller }: Pick<Call<unknown>, "caller">): Session {
  return isService(caller) ? refuse("forbidden", "only a user may do this") : caller;
}

async function opened(exchange: Exchange, access: Access): Promise<Omit<Call<undefined>, "input">> {
  const caller = await exchange.authenticate();
  const origin = originOf(actorOf(caller), exchange.requestId);
  const barred = barrier(caller, access);
  if (barred === undefined) return { ...exchange, caller, origin };
  return { ...exchange, caller: { ...caller, barred }, origin: unusable(origin, barred) };
}

/**
 * Carries an operation out. A barred caller learns first whether the record exists, as one of too low a role does: so
 * the operation runs until it refuses the caller, or its answer is dropped.
 */
async function carriedOut<Input>(call: Call<Input>, handle: (call: Call<Input>) => Promise<Answer>): Promise<Answer> {
  const answer = await handle(call);
  requireUnbarred(call);
  return answer;
}

/** Throws a Refusal (forbidden) where the caller may not call the operation, whatever its role. */
function requireUnbarred({ caller: { barred } }: Pick<Call<unknown>, "caller">): void {
  if (barred !== undefined) refuse("forbidden", barred);
}

/** An origin under which nothing can be written: a command that does not check the caller writes nothing. */
function unusable(origin: Origin, barred: string): Origin {
  return { ...origin, get actor(): Actor { return refuse("forbidden", barred); } };
}
