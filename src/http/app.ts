import { setMaxListeners } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse, IncomingHttpHeaders } from "node:http";
import Router from "@koa/router";
import Koa from "koa";
import type { Context, Middleware } from "koa";
import { ingestPath } from "../features/ingest/operation.ts";
import type { Services } from "../features/services.ts";
import { callerIdOf, CallerGone, forCaller, type SignedIn } from "../kernel/callers/caller.ts";
import { requestIdOf } from "../kernel/callers/input-rules.ts";
import { personCookies, portalCookies, requireOwnPage } from "../kernel/callers/session-cookies.ts";
import { refuse } from "../kernel/domain/refusal.ts";
import { noFields } from "../kernel/operations/json-text.ts";
import type { Exchange, Operation } from "../kernel/operations/operation.ts";
import { queryGuard } from "../kernel/operations/query-guard.ts";
import { Admission, weightOf, type Weight, type Leave } from "./admission/admission.ts";
import { answer, answerOtherMethod, answerUnknownPath, contentNow, contentOf } from "./answers/answer.ts";
import { createFailures, type Fail } from "./answers/errors.ts";
import { commonHeaders, sendAndHangUp } from "./answers/send.ts";
import type { Api } from "./api.ts";
import { createAnswerIngest, createIngestHandler, type AnswerIngest } from "./ingest/answer.ts";
import { holdArrived, memoryOf, uncountedBytes, type AnswerMemory } from "./memory/request-memory.ts";
import { operationsOf } from "./operations.ts";
import { servePages } from "./pages/pages.ts";
import { clientAddress } from "./requests/client-address.ts";
import { isBodiless, jsonObjectReader, type ReadJsonObject } from "./requests/json-body.ts";
import { hasDotSegment } from "./requests/target.ts";

const closingMs = 1_000;
/** The bytes by which an answer may exceed the one for which memory was held. */
const changedBytes = 1_024;

/** The API as a request listener, and its ingest for the fast path. */
export function createApp(api: Api): { readonly app: RequestListener; readonly answerIngest: AnswerIngest } {
  setMaxListeners(0, api.closing);
  const fail = createFailures(api);
  const answerIngest = createAnswerIngest(api, fail);
  const app = createKoa(api, answerIngest, fail).callback();
  return { app: (request, response) => void app(request, response), answerIngest };
}

function createKoa(api: Api, answerIngest: AnswerIngest, fail: Fail): Koa {
  const app = new Koa();
  // Errors past the handling below are those of broken connections.
  app.on("error", (error: unknown) => api.logger.debug({ err: error }, "a connection failed"));
  app.use(async (context, next) => {
    const requestId = requestIdOf(context.req, api.ids);
    context.set({ ...commonHeaders, "X-Request-Id": requestId });
    context.state = { requestId };
    try {
      await next();
    } catch (error) {
      if (error instanceof CallerGone) {
        context.respond = false;
        context.req.socket.destroy();
        return;
      }
      const failure = fail(error, requestId);
      if (failure.status === 413) {
        context.respond = false;
        sendAndHangUp(context.req, context.res, { ...failure, requestId }, api.clock);
      } else {
        if (failure.status === 401) context.set("WWW-Authenticate", "Bearer");
        answer(context, failure, contentNow(failure));
      }
    }
  });
  const operations = operationsOf(api);
  const read = jsonObjectReader(api.maxBodyBytes);
  app.use(refuseDotSegments);
  app.use(createIngestHandler(api, answerIngest, read));
  if (api.pages !== null) app.use(servePages(api.pages, api.portal));
  app.use(guardLiteralPaths(operations));
  app.use(routerOf(operations, api, read, fail).routes());
  app.use(answerUnmatched);
  return app;
}

/** Answers 404 to dot segments: a proxy may resolve them and check another path. */
async function refuseDotSegments(context: Context, next: () => Promise<void>): Promise<void> {
  if (hasDotSegment(context.path)) answerUnknownPath(context);
  else await next();
}

/** Answers 405 on a literal path, which the router could take for one with an id. */
function guardLiteralPaths(operations: readonly Operation[]): Middleware {
  const literal = Map.groupBy(operations.filter(isLiteral), ({ path }) => path);
  return async (context, next) => {
    const methods = literal.get(context.path)?.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    if (!methods || methods.includes(context.method)) await next();
    else answerOtherMethod(context, methods);
  };
}

function isLiteral({ path }: Operation): boolean {
  return !path.includes(":");
}

function routerOf(operations: readonly Operation[], api: Api, read: ReadJsonObject, fail: Fail): Router {
  const router = new Router({ strict: true, sensitive: true });
  const admission = new Admission(api.clock);
  const literalFirst = [...operations.filter(isLiteral), ...operations.filter((operation) => !isLiteral(operation))];
  for (const operation of literalFirst) {
    const { method, path, run } = operation;
    if (!run) continue;
    const guardQuery = queryGuard(operations, operation);
    router.register(path, [method], async (context) => {
      const { exchange, memory, weight, leave } = await begun(context, api, read, { operation, guardQuery, admission });
      const failed = (error: unknown) => void (isCallersEnd(error) || fail(error, exchange.requestId));
      const work = async () => {
        const answered = await run(exchange);
        answer(context, answered, await contentOf(answered, memory, failed));
        return answered;
      };
      const { stream } = await (weight === "large" ? forCaller(exchange.gone(), work) : work()).finally(leave);
      if (!stream) return;
      context.flushHeaders();
      const cut = () => context.res.writableFinished || context.req.socket.destroy();
      whenFired(exchange.gone(), cut);
      // A client that reads nothing would delay the end of the process.
      whenFired(api.closing, () => api.clock.schedule(closingMs, cut), exchange.gone());
    });
  }
  return router;
}

interface Begun {
  readonly exchange: Exchange;
  readonly memory: AnswerMemory;
  readonly weight: Weight;
  readonly leave: Leave;
}

/** The memory counts for the tenant once the caller is known. */
async function begun(
  context: Context, api: Api, read: ReadJsonObject,
  { operation, guardQuery, admission }: {
    readonly operation: Operation; readonly guardQuery: (query: string) => void; readonly admission: Admission;
  },
): Promise<Begun> {
  const { req: request, res: response, params, querystring: query } = context;
  const { requestId } = context.state as { readonly requestId: string };
  const memory = memoryOf(api, request, response);
  await holdArrived(request, memory);
  let tenantId: string | undefined;
  const hold = (bytes: number, kept?: number) => memory.hold(tenantId, bytes, kept);
  let heldAhead = 0;
  let signal: AbortSignal | undefined;
  const gone = () => signal ??= goneOf(request, response);
  const weight = weightOf(operation, query);
  let place: Leave | undefined;
  const holdAnswer = async (bytes: number, kept?: number) => {
    if (bytes > heldAhead) await hold(bytes, kept);
  };
  const exchange: Exchange = {
    params: params as Exchange["params"], query, headers: request.headers, requestId,
    address: clientAddress(request, api.trustedProxies),
    authenticate: async () => {
      const caller = await authenticate(request, api.services);
      ({ tenantId } = caller);
      guardQuery(query);
      return caller;
    },
    body: async (isOptional) => (isOptional && isBodiless(request) ? noFields() : read(context, hold)),
    holdAnswer: async (like: object) => {
      const bytes = Buffer.byteLength(JSON.stringify(like)) + changedBytes;
      if (bytes <= uncountedBytes) return;
      await hold(bytes);
      heldAhead = bytes;
    },
    gone,
    over: () => overOf(gone(), api.closing),
    admit: async (caller) => {
      const callerId = callerIdOf(caller);
      place ??= await admission.enter(weight, { tenantId: caller.tenantId, callerId }, gone);
    },
  };
  const leave = () => place?.();
  return { exchange, memory: { hold: holdAnswer, release: () => memory.release() }, weight, leave };
}

type Credentials = Pick<Services, "sessions" | "serviceKeys" | "portalSessions">;

/**
 * The caller by bearer token or cookie. Refuses: unauthenticated; forbidden for another site's use of the cookie;
 * precondition-failed if `X-Relay-Principal` names another caller.
 */
export async function authenticate(
  { headers }: IncomingMessage, credentials: Credentials,
): Promise<SignedIn> {
  const caller = await callerOf(headers, credentials);
  const principal = headers["x-relay-principal"];
  if (principal !== undefined && String(principal).toLowerCase() !== callerIdOf(caller)) {
    refuse("precondition-failed", "X-Relay-Principal: is not the id of this request's caller");
  }
  return caller;
}

async function callerOf(headers: IncomingHttpHeaders, credentials: Credentials): Promise<SignedIn> {
  const browser = headers.authorization === undefined ? await browserOf(headers, credentials) : undefined;
  if (browser) {
    requireOwnPage(headers);
    return browser;
  }
  const [, token] = /^Bearer +([^\s,]+)$/i.exec(headers.authorization ?? "") ?? [];
  if (token === undefined) {
    refuse("unauthenticated", "Authorization: must be Bearer and an access token or a service key");
  }
  if (token.startsWith("rsk_")) return credentials.serviceKeys.authenticate(token);
  return credentials.sessions.authenticate(token);
}

/** The caller by a browser's cookie: a person's, or a visitor's of the portal, which its pages ask for by a header. */
async function browserOf(
  headers: IncomingHttpHeaders, { sessions, portalSessions }: Credentials,
): Promise<SignedIn | undefined> {
  const isInPortal = headers["x-relay-portal"] !== undefined;
  const persons = isInPortal ? undefined : personCookies.of(headers);
  if (persons) return sessions.authenticateBrowser(persons.token);
  const visitors = portalCookies.of(headers);
  if (visitors) return portalSessions.authenticate(visitors.token);
  return isInPortal ? refuse("unauthenticated", "Cookie: the portal's cookie is required") : undefined;
}

function isCallersEnd(error: unknown): boolean {
  return error instanceof CallerGone || (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
}

/** Calls `then` when a signal fires, at once where it has; not any more once `until` has fired. */
function whenFired(signal: AbortSignal, then: () => unknown, until?: AbortSignal): void {
  if (signal.aborted) then();
  else signal.addEventListener("abort", then, until && { signal: until });
}

function overOf(gone: AbortSignal, closing: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const over = () => controller.abort();
  whenFired(gone, over);
  whenFired(closing, over, gone);
  return controller.signal;
}

function goneOf({ socket }: IncomingMessage, response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const over = () => {
    socket.off("end", over);
    controller.abort();
  };
  response.setMaxListeners(20);
  if (response.closed || socket.readableEnded) over();
  else {
    response.once("close", over);
    socket.once("end", over);
  }
  return controller.signal;
}

function answerUnmatched(context: Context): void {
  const { matched = [] } = context as Context & { readonly matched?: readonly { readonly methods: string[] }[] };
  const methods = ingestPath(context.req.url ?? "") ? ["POST"] : matched.flatMap((layer) => layer.methods);
  if (methods.length > 0) answerOtherMethod(context, methods);
  else answerUnknownPath(context);
}
