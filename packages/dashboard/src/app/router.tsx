import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent, Outlet, redirect,
} from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { hasSeveralCookies, isSignedOut, meQuery, type CallerTurns } from "../api/queries.ts";
import { isPortal, pagesPath } from "../api/relay.ts";
import { UnknownPage } from "../pages/unknown/unknown-page.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { loaded } from "../parts/use-loaded.ts";
import {
  auditFilterNames, columnsName, eventFilterNames, orderFields, parseSearch, payloadNames, storyNames, texts,
  writeSearch, type Texts,
} from "./search.ts";
import { Shell } from "./shell.tsx";

/** A page whose module is loaded when first shown. Without `loaded` the router reloads the page after a failure. */
const lazy: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(() => loaded(load), name);

interface Context {
  readonly queries: QueryClient;
}

/** The pages that the portal has; other addresses lead to the first. */
const portalPages = /^\/(?:events|destinations|login)(?:\/|$)/;

const root = createRootRouteWithContext<Context>()({
  component: Outlet,
  notFoundComponent: UnknownPage,
  beforeLoad: ({ location: { pathname } }) => {
    if (isPortal && !portalPages.test(pathname)) redirect({ to: "/events", throw: true });
  },
});

const shell = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: isPortal ? lazy(() => import("../portal/portal-frame.tsx"), "PortalFrame") : Shell,
  beforeLoad: async ({ context: { queries }, location }) => {
    await queries.query({ ...meQuery, staleTime: "static" }).catch((error: unknown) => {
      if (!isSignedOut(error)) throw error;
      redirect({ to: "/login", search: signInSearch(location.href, error), throw: true });
    });
  },
});

const login = createRoute({
  getParentRoute: () => root, path: "/login", validateSearch: texts("next", "cookies"),
  component: isPortal ? lazy(() => import("../portal/link-over-page.tsx"), "LinkOverPage")
    : lazy(() => import("../pages/login/login-page.tsx"), "LoginPage"),
});
const newTenant = createRoute({
  getParentRoute: () => root, path: "/new",
  component: lazy(() => import("../pages/register/new-tenant-page.tsx"), "NewTenantPage"),
});
const register = createRoute({
  getParentRoute: () => root, path: "/register",
  component: lazy(() => import("../pages/register/register-page.tsx"), "RegisterPage"),
});
const overview = createRoute({
  getParentRoute: () => shell, path: "/", validateSearch: texts("refused"),
  component: lazy(() => import("../pages/overview/overview-page.tsx"), "OverviewPage"),
});
const start = createRoute({
  getParentRoute: () => shell, path: "/start",
  component: lazy(() => import("../pages/start/start-page.tsx"), "StartPage"),
});
const incidents = createRoute({
  getParentRoute: () => shell, path: "/incidents", validateSearch: texts("State"),
  component: lazy(() => import("../pages/incidents/incidents-page.tsx"), "IncidentsPage"),
});
const incident = createRoute({
  getParentRoute: () => shell, path: "/incidents/$id",
  component: lazy(() => import("../pages/incidents/incident-page.tsx"), "IncidentPage"),
});
const events = createRoute({
  getParentRoute: () => shell, path: "/events",
  validateSearch: texts(...eventFilterNames, ...payloadNames, columnsName, "event", "tail", ...storyNames),
  component: lazy(() => import("../pages/events/events-page.tsx"), "EventsPage"),
});
const event = createRoute({
  getParentRoute: () => shell, path: "/events/$id", validateSearch: texts(...storyNames),
  component: lazy(() => import("../pages/event/event-page.tsx"), "EventPage"),
});
const messages = createRoute({
  getParentRoute: () => shell, path: "/messages", validateSearch: texts("SenderId", "EventType", "OwnerId"),
  component: lazy(() => import("../pages/messages/messages-page.tsx"), "MessagesPage"),
});
const message = createRoute({
  getParentRoute: () => shell, path: "/messages/$id",
  component: lazy(() => import("../pages/message/message-page.tsx"), "MessagePage"),
});
const destinations = createRoute({
  getParentRoute: () => shell, path: "/destinations", validateSearch: texts("Status", "text", "sort", "new"),
  component: lazy(() => import("../pages/destinations/destinations-page.tsx"), "DestinationsPage"),
});
const destination = createRoute({
  getParentRoute: () => shell, path: "/destinations/$id", validateSearch: texts("tab", "act", "range", "at"),
  component: lazy(() => import("../pages/destination/destination-page.tsx"), "DestinationPage"),
});
const senders = createRoute({
  getParentRoute: () => shell, path: "/senders", validateSearch: texts("new"),
  component: lazy(() => import("../pages/senders/senders-page.tsx"), "SendersPage"),
});
const sender = createRoute({
  getParentRoute: () => shell, path: "/senders/$id",
  validateSearch: texts("tab", "act", "event", "at", "open"),
  component: lazy(() => import("../pages/sender/sender-page.tsx"), "SenderPage"),
});
const operations = createRoute({
  getParentRoute: () => shell, path: "/operations", validateSearch: texts("kind", "new", ...orderFields),
  component: lazy(() => import("../pages/operations/operations-page.tsx"), "OperationsPage"),
});
const audit = createRoute({
  getParentRoute: () => shell, path: "/audit", validateSearch: texts(...auditFilterNames, "open"),
  component: lazy(() => import("../pages/audit/audit-page.tsx"), "AuditPage"),
});
const keys = createRoute({
  getParentRoute: () => shell, path: "/keys", validateSearch: texts("tab", "account"),
  component: lazy(() => import("../pages/keys/keys-page.tsx"), "KeysPage"),
});
const people = createRoute({
  getParentRoute: () => shell, path: "/people", validateSearch: texts("tab"),
  component: lazy(() => import("../pages/people/people-page.tsx"), "PeoplePage"),
});
const settings = createRoute({
  getParentRoute: () => shell, path: "/settings", validateSearch: texts("tab", "at"),
  component: lazy(() => import("../pages/settings/settings-page.tsx"), "SettingsPage"),
});
const account = createRoute({
  getParentRoute: () => shell, path: "/account",
  component: lazy(() => import("../pages/account/account-page.tsx"), "AccountPage"),
});

const tree = root.addChildren([
  login, register, newTenant,
  shell.addChildren([
    overview, start, incidents, incident, events, event, messages, message, destinations, destination,
    senders, sender, operations, audit, keys, people, settings, account,
  ]),
]);

/** The parameters of the sign-in: the page to come back to, and whether the cookies have to be removed first. */
function signInSearch(next: string, refusal: unknown): Texts<"next" | "cookies"> {
  return { next, ...hasSeveralCookies(refusal) && { cookies: "several" } };
}

const routerOf = (queries: QueryClient) => createRouter({
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

type PagesRouter = ReturnType<typeof routerOf>;

declare module "@tanstack/react-router" {
  interface Register {
    readonly router: PagesRouter;
  }
}

/** The router of all pages, and its handlers for a change of the caller: a sign-in leads back to the page. */
export function createPages(queries: QueryClient): { readonly router: PagesRouter; readonly turns: CallerTurns } {
  const router = routerOf(queries);
  const signedOut = (refusal: unknown) => {
    const { location } = router.state;
    if (location.pathname === "/login") return;
    queries.clear();
    const search = signInSearch(location.href, refusal);
    void router.navigate({ to: "/login", search, ignoreBlocker: true });
  };
  const other = (me: Schemas["Me"]) => {
    queries.setQueryData(meQuery.queryKey, me);
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== meQuery.queryKey[0] });
    // The rest of the address names things of the former caller.
    const [, page = ""] = router.state.location.pathname.split("/");
    router.history.push(`${pagesPath}/${page}`, undefined, { ignoreBlocker: true });
  };
  return { router, turns: { signedOut, other } };
}
