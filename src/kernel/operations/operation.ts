import type { IncomingHttpHeaders } from "node:http";
import type { SchemaObject } from "ajv/dist/2020.js";
import type { Inputs, operations } from "../../../schemas/api.ts";
import { type Session, actorOf, isPortal, isService, type PortalCaller, type SignedIn } from "../callers/caller.ts";
import { uuidOf } from "../callers/input-rules.ts";
import type { Actor } from "../domain/domain-event.ts";
import { refuse } from "../domain/refusal.ts";
import type { Origin } from "../log/origin.ts";
import type { PageInParts } from "../read-models/paging.ts";
import { barrier, type Access } from "./access.ts";
import { bodyReader, type BodyReader } from "./body-reader.ts";
import type { Description } from "./description.ts";
import type { JsonObject } from "./json-text.ts";
import { listReader, queryReader, type ListRequest, type QueryReader } from "./query-parameters.ts";

/** An answer: a JSON body, a page, a text, or nothing. */
export interface Answer {
  readonly status: number;
  readonly body?: object;
  readonly page?: PageInParts<object>;
  readonly text?: string | Buffer;
  /** A text in pieces, each sent once the client has taken most of the ones before it. It ends when the client goes. */
  readonly stream?: AsyncIterable<string>;
  /** Memory that a stream takes for as long as it lasts, bytes, beside its pieces. */
  readonly holds?: number;
  readonly type?: string;
  /** In place of, or beside, those of every answer. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** One request on its way through its route. */
export interface Exchange {
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  readonly address: string;
  /** The caller, by token, cookie or key. Throws a Refusal (unauthenticated, forbidden). */
  authenticate(): Promise<SignedIn>;
  /** Waits for the request's turn, once, after its body has come. Rejects with a Refusal (unavailable), CallerGone. */
  admit(caller: SignedIn): Promise<void>;
  /** The JSON object in the body, empty without one where it is optional. Throws a Refusal. */
  body(isOptional?: true): Promise<JsonObject>;
  /** Holds memory for an answer like this one, before a command changes anything. Throws a Refusal (unavailable). */
  readonly holdAnswer: (like: object) => Promise<void>;
  /** Fires once the answer is sent, or its client has gone or sends no more: of answers that take long. */
  readonly gone: () => AbortSignal;
  /** As {@link gone}, and when the process ends: a scan stops then, without its last line. */
  readonly over: () => AbortSignal;
}

/** The methods that routes have; HEAD, OPTIONS and 405 follow from them (docs/api.md). */
export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** An operation: its description, the schemas of its query and body, and its handler. */
export interface Operation extends Description {
  readonly method: Method;
  readonly path: string;
  /** The credential: an access token or else a browser's cookie, the cookie only, the portal's, an API key, or none. */
  readonly security: "bearer" | "cookie" | "portal" | "apiKey" | "none";
  readonly access?: Access;
  /** It may read much of the log or answer with much, so it takes one of the few places of such requests. */
  readonly isLarge?: true;
  readonly query?: { readonly schema: SchemaObject };
  readonly body?: { readonly schema: SchemaObject; readonly isOptional?: true };
  /** Carries the operation out. Absent from ingest, which goes past the framework. */
  readonly run?: (exchange: Exchange) => Promise<Answer>;
}

/** The id of an operation: its name in the API document and in clients. */
export type OperationId = keyof operations;

interface Declared<Id extends OperationId, Input> extends Description {
  readonly id: Id;
  readonly route: `${Method} /${string}`;
  readonly body?: SchemaObject | BodyReader<Input>;
  readonly query?: SchemaObject | QueryReader<Input>;
  readonly list?: SchemaObject;
}

type PageParameters = "Qt" | "Pg" | "CpOrd" | "TpOrd" | "Cursor" | "Total";

/** The filters of a list. */
export type Filters<Id extends keyof Inputs> = Omit<Inputs[Id], PageParameters>;

type Given = 200 | 201 | 202 | 204 | 302 | 503;

type AnswerOf<Id extends OperationId> = {
  [Status in keyof operations[Id]["responses"] & Given]: Answer & {
    readonly status: Status;
    readonly body?: JsonOf<operations[Id]["responses"][Status]>;
  };
}[keyof operations[Id]["responses"] & Given];

/** The JSON body of an answer. The types of pages are those of their items, which views have. */
type JsonOf<Response> = Response extends { content: { "application/json": infer Body extends object } }
  ? Body extends { readonly nextCursor: string | null } ? object : Unchanging<Body>
  : object;

type Unchanging<Value> = Value extends readonly (infer Item)[] ? readonly Unchanging<Item>[]
  : Value extends object ? { readonly [Name in keyof Value]: Unchanging<Value[Name]> } : Value;

type InputOf<Id extends OperationId> = Id extends keyof Inputs
  ? Inputs[Id] extends { readonly Qt: number } ? ListRequest<Filters<Id>> : Inputs[Id]
  : undefined;

/** The input of the handler of a signed-in operation. */
export interface Call<Input> extends Exchange {
  readonly caller: SignedIn;
  readonly origin: Origin;
  readonly input: Input;
}

/** An operation for everyone. The handler reads a body once it has let the caller in. */
export function open<Id extends OperationId, Input = InputOf<Id>>(
  declared: Declared<Id, Input>, handle: (exchange: Exchange, read: () => Promise<Input>) => Promise<AnswerOf<Id>>,
): Operation {
  const described = describedOf(declared);
  const { body } = described;
  const run = (exchange: Exchange) =>
    handle(exchange, async () => (body ? body(await exchange.body()) : undefined as Input));
  return { ...described, security: "none", run };
}

/** An operation for signed-in callers, checked again after the body: a session may have ended meanwhile. */
export function signedIn<Id extends OperationId, Input = InputOf<Id>>(
  { access, isLarge, security = "bearer", ...declared }: Declared<Id, Input> & {
    readonly access: Access;
    readonly isLarge?: true;
    readonly security?: Operation["security"];
  },
  handle: (call: Call<Input>) => Promise<AnswerOf<Id>>,
): Operation {
  const described = describedOf(declared);
  const { path, query, body } = described;
  const run = async (exchange: Exchange) => {
    if (body) {
      await identified(exchange, access);
      const read = await exchange.body(body.isOptional);
      const call = await opened(exchange, access);
      return carriedOut({ ...call, input: body(read) }, handle);
    }
    const call = await opened(exchange, access);
    if (!query) return carriedOut({ ...call, input: undefined as Input }, handle);
    const { caller: { tenantId }, params } = call;
    const input = query(exchange.query, JSON.stringify([path, params, tenantId]));
    if (!path.includes(":id")) requireUnbarred(call);
    return carriedOut({ ...call, input }, handle);
  };
  return { ...described, access, ...(isLarge && { isLarge }), security, run };
}

function describedOf<Id extends OperationId, Input>({ route, body, query, list, ...description }: Declared<Id, Input>) {
  const [method, path] = route.split(" ") as [Method, string];
  const bodyOf = body && (isReader(body) ? body : bodyReader<Input>(body));
  const queryOf = list ? listReader(list) as unknown as QueryReader<Input>
    : query && (isReader(query) ? query : queryReader<Input>(query));
  return { ...description, method, path, ...(bodyOf && { body: bodyOf }), ...(queryOf && { query: queryOf }) };
}

function isReader<Reader extends BodyReader<unknown> | QueryReader<unknown>>(
  given: SchemaObject | Reader,
): given is Reader {
  return typeof given === "function";
}

/** The id in a request's path, as {@link uuidOf} takes it. */
export function pathId({ params }: Exchange): string {
  return uuidOf(params["id"] ?? "");
}

/** The origin of a request, for the log. */
export function originOf(actor: Actor, requestId: string): Origin {
  return { actor, correlationId: requestId, causationId: null };
}

/** The session of the caller. Throws a Refusal (forbidden) where that is no user. */
export function sessionOf({ caller }: Pick<Call<unknown>, "caller">): Session {
  return isService(caller) || isPortal(caller) ? refuse("forbidden", "only a user may do this") : caller;
}

/** The visitor of the portal that calls. Throws a Refusal (unauthenticated) where another caller does. */
export function visitorOf({ caller }: Pick<Call<unknown>, "caller">): PortalCaller {
  return isPortal(caller) ? caller : refuse("unauthenticated", "Cookie: the portal's cookie is required");
}

/** The caller. Throws a Refusal (not-found) to visitors of the portal where they have no such operation. */
async function identified(exchange: Exchange, { portal }: Access): Promise<SignedIn> {
  const caller = await exchange.authenticate();
  return isPortal(caller) && portal === undefined ? refuse("not-found", "not found") : caller;
}

async function opened(exchange: Exchange, access: Access): Promise<Omit<Call<undefined>, "input">> {
  const caller = await identified(exchange, access);
  await exchange.admit(caller);
  const origin = originOf(actorOf(caller), exchange.requestId);
  const barred = barrier(caller, access);
  if (barred === undefined) return { ...exchange, caller, origin };
  return { ...exchange, caller: { ...caller, barred }, origin: unusable(origin, barred) };
}

/** A barred caller learns first whether the record exists, as a caller of too low a role does. */
async function carriedOut<Input>(call: Call<Input>, handle: (call: Call<Input>) => Promise<Answer>): Promise<Answer> {
  const answer = await handle(call);
  requireUnbarred(call);
  return answer;
}

/** Throws a Refusal (forbidden) where the caller may not call the operation, whatever its role. */
function requireUnbarred({ caller: { barred } }: Pick<Call<unknown>, "caller">): void {
  if (barred !== undefined) refuse("forbidden", barred);
}

/** An origin that no fact can be written under: a command that does not check the caller writes nothing. */
function unusable(origin: Origin, barred: string): Origin {
  return { ...origin, get actor(): Actor { return refuse("forbidden", barred); } };
}
