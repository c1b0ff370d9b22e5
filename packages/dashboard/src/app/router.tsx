import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent, Outlet, redirect, type AnyRouter,
} from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { hasSeveralCookies, isSignedOut, meQuery, type CallerTurns } from "../api/queries.ts";
import { pagesPath } from "../api/relay.ts";
import { UnknownPage } from "../pages/unknown/unknown-page.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { loaded } from "../parts/use-loaded.ts";
import { parseSearch, writeSearch, type Search } from "./search.ts";
import { Shell } from "./shell.tsx";

/** A page whose module is loaded when first shown. The router would reload the page by itself where it cannot be. */
const lazy: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(() => loaded(load), name);

/** The pages behind the sign-in: the path of each, and its module, which is loaded when first shown. */
const signedInPages = {
  "/": lazy(() => import("../pages/overview/overview-page.tsx"), "OverviewPage"),
  "/start": lazy(() => import("../pages/start/start-page.tsx"), "StartPage"),
  "/events": lazy(() => import("../pages/events/events-page.tsx"), "EventsPage"),
  "/events/$id": lazy(() => import("../pages/event/event-page.tsx"), "EventPage"),
  "/destinations": lazy(() => import("../pages/destinations/destinations-page.tsx"), "DestinationsPage"),
  "/destinations/$id": lazy(() => import("../pages/destination/destination-page.tsx"), "DestinationPage"),
  "/senders": lazy(() => import("../pages/senders/senders-page.tsx"), "SendersPage"),
  "/senders/$id": lazy(() => import("../pages/sender/sender-page.tsx"), "SenderPage"),
  "/operations": lazy(() => import("../pages/operations/operations-page.tsx"), "OperationsPage"),
  "/audit": lazy(() => import("../pages/audit/audit-page.tsx"), "AuditPage"),
  "/keys": lazy(() => import("../pages/keys/keys-page.tsx"), "KeysPage"),
  "/people": lazy(() => import("../pages/people/people-page.tsx"), "PeoplePage"),
  "/settings": lazy(() => import("../pages/settings/settings-page.tsx"), "SettingsPage"),
};

/** The pages for everyone. */
const openPages = {
  "/login": lazy(() => import("../pages/login/login-page.tsx"), "LoginPage"),
  "/register": lazy(() => import("../pages/register/register-page.tsx"), "RegisterPage"),
};

interface Context {
  readonly queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Outlet, notFoundComponent: UnknownPage });

const shell = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: Shell,
  beforeLoad: async ({ context: { queries }, location }) => {
    await queries.query({ ...meQuery, staleTime: "static" }).catch((error: unknown) => {
      if (!isSignedOut(error)) throw error;
      redirect({ to: "/login", search: signInSearch(location.href, error), throw: true });
    });
  },
});

const validateSearch = (search: Record<string, unknown>) => search as Search;

const tree = root.addChildren([
  ...Object.entries(openPages).map(([path, component]) =>
    createRoute({ getParentRoute: () => root, path, component, validateSearch })),
  shell.addChildren(Object.entries(signedInPages).map(([path, component]) =>
    createRoute({ getParentRoute: () => shell, path, component, validateSearch }))),
]);

/** The parameters of the sign-in: the page to come back to, and whether the cookies have to be removed first. */
function signInSearch(next: string, refusal: unknown): Search {
  return { next, ...hasSeveralCookies(refusal) && { cookies: "several" } };
}

/** The router of all pages, and what it does when the caller changes: the sign-in comes back to the page shown. */
export function createPages(queries: QueryClient): { readonly router: AnyRouter; readonly turns: CallerTurns } {
  const router = createRouter({
    routeTree: tree,
    basepath: pagesPath,
    context: { queries },
    parseSearch,
    stringifySearch: writeSearch,
    defaultPreload: "intent",
    defaultPendingMs: 150,
    defaultPendingComponent: Loading,
    defaultErrorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
    defaultNotFoundComponent: UnknownPage,
  });
  const signedOut = (refusal: unknown) => {
    const { location } = router.state;
    if (location.pathname === "/login") return;
    queries.clear();
    const search = signInSearch(location.href, refusal);
    void router.navigate({ to: "/login", search, ignoreBlocker: true } as never);
  };
  const other = (me: Schemas["Me"]) => {
    queries.setQueryData(meQuery.queryKey, me);
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== meQuery.queryKey[0] });
    // The rest of the address names things of the caller before.
    const [, page = ""] = router.state.location.pathname.split("/");
    void router.navigate({ to: `/${page}`, ignoreBlocker: true } as never);
  };
  return { router, turns: { signedOut, other } };
}
