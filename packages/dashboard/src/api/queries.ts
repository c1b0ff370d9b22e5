import { MutationCache, QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";
import { RelayError, type OperationId, type Schemas } from "@webhook-relay/client";
import { throttled } from "../live/throttled.ts";
import { caller, relay } from "./relay.ts";
import { whoIsSignedIn } from "./who.ts";

const longestPauseMs = 10_000;

/** Whether the same request may succeed a little later: the storage is away, or lists are catching up. */
export function mayPass(error: unknown): boolean {
  return error instanceof RelayError && ["unavailable", "unreachable", "too-many"].includes(error.code);
}

/** Whether the caller has no session, or their session has ended. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof RelayError && error.code === "unauthenticated";
}

/** Whether the thing does not exist, or not for the caller. */
export function isNotFound(error: unknown): boolean {
  return error instanceof RelayError && error.code === "not-found";
}

/** Whether the browser sent several session cookies: another program at its host has set one. */
export function hasSeveralCookies(error: unknown): boolean {
  return isSignedOut(error) && (error as RelayError).message.startsWith("Cookie: several ");
}

/** The handlers for the end of the session, and for the session of another caller. */
export interface CallerTurns {
  readonly signedOut: (refusal: unknown) => void;
  readonly other: (me: Schemas["Me"]) => void;
}

/** The least time between two checks of the signed-in caller, ms. */
const checkMs = 250;

/**
 * Makes the cache of answers, and {@link caller}'s check. A request whose session was renewed while it was under way is
 * refused, too: then the pages ask again.
 */
export function createQueries({ signedOut, other }: CallerTurns): QueryClient {
  caller.check = throttled(async () => {
    try {
      const me = await whoIsSignedIn();
      if (me.principal.id !== caller.id) return other(me);
      await queries.refetchQueries({ type: "active", predicate: ({ state }) => isSignedOut(state.error) });
    } catch (error) {
      if (isSignedOut(error)) signedOut(error);
    }
  }, checkMs);
  const onError = (error: unknown) => {
    // The other program may have set its cookie for some paths only: the caller may be known at others.
    if (hasSeveralCookies(error)) signedOut(error);
    else if (isSignedOut(error)) caller.check();
  };
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error, query) => query.meta?.["asksWho"] === true || onError(error) }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        enabled: ({ queryKey: [operation] }) => mayAsk(queries, operation),
        // Shown rows stay while the relay is catching up; a lasting error is shown at once.
        retry: (_failures, error) => mayPass(error),
        retryDelay: (failures) => Math.min(500 * 2 ** failures, longestPauseMs),
        refetchOnWindowFocus: false,
        staleTime: 5_000,
      },
      mutations: { retry: false },
    },
  });
  return queries;
}

/** The caller, their tenant, and the operations that they may call. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  // Once a caller is shown, an answer about another one must not take its place unnoticed.
  queryFn: ({ client }) => whoIsSignedIn(client.getQueryData(["me"]) === undefined ? undefined : relay),
  staleTime: 60_000,
  meta: { asksWho: true },
});

/** Whether a query may be asked, by the beginning of its key: the caller needs the right to the operation. */
function mayAsk(queries: QueryClient, operation: unknown): boolean {
  const me = queries.getQueryData<Schemas["Me"]>(meQuery.queryKey);
  return me === undefined || typeof operation !== "string" || !Object.hasOwn(relay, operation)
    || me.operations.includes(operation);
}

/** Whether the caller may call an operation on at least one record. */
export function may(me: Schemas["Me"], operation: OperationId): boolean {
  return (me.operations as readonly string[]).includes(operation);
}
