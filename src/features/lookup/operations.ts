import lookup from "../../../schemas/requests/lookup.json" with { type: "json" };
import foundItems from "../../../schemas/responses/found-items.json" with { type: "json" };
import { access, mayCall } from "../../kernel/operations/access.ts";
import { json } from "../../kernel/operations/description.ts";
import { signedIn, type Operation } from "../../kernel/operations/operation.ts";
import type { Services } from "../services.ts";
import type { FoundKind } from "./queries.ts";

/** The kinds of things, by the operation that lists them. */
const kinds: Readonly<Record<string, FoundKind>> = {
  listEvents: "event", listMessages: "message", listDestinations: "destination", listSenders: "sender",
  listSubscriptions: "subscription", listUsers: "user", listApiKeys: "apiKey", listServiceAccounts: "serviceAccount",
};

/** Finds things by a text; `operations`: all, of which the lists tell what the caller may find. */
export function lookupOperations({ queries }: Services, operations: () => readonly Operation[]): Operation[] {
  return [
    signedIn({
      id: "lookup",
      route: "GET /api/v1/lookup",
      access: access("Viewer", "any"),
      isLarge: true,
      tag: "Events",
      summary: "Look a text up",
      description:
        "Finds at most 20 events, messages and things, the best match first: events and messages by id and " +
        "idempotency key, and events by correlation id, the value of a tag under any name, and the newest five of an " +
        "event type or owner, each exactly; " +
        "destinations, senders, subscriptions, users, API keys and service accounts by id, or by a part of their " +
        "URL, email, name or owner in any case. Kinds that the caller may not list are left out. Of each kind of " +
        "thing the newest 2,000 are looked through by name, and of the tenant's names of tags the first 32.",
      query: lookup,
      answers: { 200: json("found-items", "What was found.", foundItems.example) },
    }, async ({ caller, input }) => {
      const listed = operations().flatMap(({ id, access: needed }) =>
        (needed && mayCall(caller, needed) ? kinds[id] ?? [] : []));
      return { status: 200, body: { items: await queries.lookup.find(caller, input.Q, new Set(listed)) } };
    }),
  ];
}
