import { MutationCache, QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";
import { RelayError, type OperationId, type Schemas } from "../../../client/src/index.ts";
import { relay } from "./relay.ts";

const longestPauseMs = 10_000;

/** Whether the same request may succeed a little later: the storage is away, or lists are catching up. */
export function mayPass(error: unknown): boolean {
  return error instanceof RelayError && ["unavailable", "unreachable", "too-many"].includes(error.code);
}

/** Whether the caller has no session, or has one no more. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof RelayError && error.code === "unauthenticated";
}

/** Whether the browser sent several session cookies: another program at its host has set one. */
export function hasSeveralCookies(error: unknown): boolean {
  return isSignedOut(error) && (error as RelayError).message.startsWith("Cookie: several ");
}

/**
 * Makes the cache of answers. `onSignedOut` is called with the refusal once the session is over. A request whose
 * session was renewed while it was under way is refused, too: then the pages ask again.
 */
export function createQueries(onSignedOut: (refusal: unknown) => void): QueryClient {
  const onError = (error: unknown) => {
    if (!isSignedOut(error)) return;
    // The other program may have set its cookie for some paths only: the caller may be known at others.
    if (hasSeveralCookies(error)) return onSignedOut(error);
    relay.getMe().then(
      () => queries.refetchQueries({ type: "active", predicate: ({ state }) => isSignedOut(state.error) }),
      (problem: unknown) => {
        if (isSignedOut(problem)) onSignedOut(problem);
      },
    );
  };
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error, query) => query.meta?.["asksWho"] === true || onError(error) }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        enabled: ({ queryKey: [operation] }) => mayAsk(queries, operation),
        // Shown rows stay while the relay is catching up; what cannot pass is shown at once.
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

/** The caller: who, in which tenant, and the operations that they may call. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: () => relay.getMe(),
  staleTime: 60_000,
  meta: { asksWho: true },
});

/** Whether a query may be asked, by the beginning of its key: what the caller may not call is not called. */
function mayAsk(queries: QueryClient, operation: unknown): boolean {
  const me = queries.getQueryData<Schemas["Me"]>(meQuery.queryKey);
  return me === undefined || typeof operation !== "string" || !Object.hasOwn(relay, operation)
    || me.operations.includes(operation);
}

/** Whether the caller may call an operation on at least one record. */
export function may(me: Schemas["Me"], operation: OperationId): boolean {
  return (me.operations as readonly string[]).includes(operation);
}
