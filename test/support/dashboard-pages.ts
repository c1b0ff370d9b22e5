import type { OperationId } from "../../packages/client/src/index.ts";
import { operations } from "../../packages/client/src/operations.ts";
import type { Furnished } from "./furnished-tenant.ts";

/** The paths below `/app` of all pages behind the sign-in, in each of their tabs, that show something of a tenant. */
export function pagesOf(
  { events, messageId, destinationId, senderId, fanOutSenderId, incidentId }: Furnished,
): readonly string[] {
  const at = (path: string, tabs: readonly string[]) => [path, ...tabs.map((tab) => `${path}?tab=${tab}`)];
  return [
    "/", "/?refused=all", "/start", "/incidents", `/incidents/${incidentId}`,
    "/events", `/events?event=${events.failed}`, `/events/${events.held}`,
    "/messages", `/messages/${messageId}`,
    "/destinations",
    ...at(`/destinations/${destinationId}`, ["events", "subscriptions", "circuit", "settings", "changes"]),
    "/senders", ...at(`/senders/${senderId}`, ["settings", "ingest", "changes"]),
    ...at(`/senders/${fanOutSenderId}`, ["settings"]),
    "/operations", "/operations?kind=cancel", "/operations?kind=purge", "/audit",
    ...at("/keys", ["services", "secret", "check"]), ...at("/people", ["invites"]),
    ...at("/settings", ["notifications", "portal"]), "/account",
  ];
}

/** The operations by the forms of their paths; paths that are spelled out come before those with parameters. */
const forms = Object.entries(operations)
  .map(([id, { method, path }]) => ({ id: id as OperationId, method, path }))
  .sort((a, b) => Number(a.path.includes("{")) - Number(b.path.includes("{")))
  .map(({ id, method, path }) =>
    ({ id, method, form: new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`) }));

/** The operation that a request of a page calls; undefined where it is for a file. */
export function operationOf(method: string, url: string): OperationId | undefined {
  const { pathname } = new URL(url);
  return forms.find(({ form, method: its }) => its === method && form.test(pathname))?.id;
}
