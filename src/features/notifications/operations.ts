import createNotificationSubscription
  from "../../../schemas/requests/create-notification-subscription.json" with { type: "json" };
import listNotificationSubscriptions
  from "../../../schemas/requests/list-notification-subscriptions.json" with { type: "json" };
import { access } from "../../kernel/operations/access.ts";
import { json, nothing, page, problem } from "../../kernel/operations/description.ts";
import { pathId, signedIn, type Operation } from "../../kernel/operations/operation.ts";
import { notificationSubscription } from "../examples.ts";
import type { Services } from "../services.ts";
import { mostSubscriptions } from "./decide.ts";

const read = access("Viewer", "destinations:read");
const write = access("Developer", "destinations:write");
const tag = "Notifications";
const { destinationUrlId, types } = notificationSubscription;

/** Webhooks that tell the caller's tenant of its failing destinations. */
export function notificationOperations({ commands, queries }: Services): Operation[] {
  return [
    signedIn({
      id: "createNotificationSubscription",
      route: "POST /api/v1/notification-subscriptions",
      access: write,
      tag,
      summary: "Subscribe a destination to notifications",
      description:
        "The destination gets an event `{type, timestamp, data}` for each: `destination.suspended`, when the circuit " +
        "opens, but not again by a failed probe; `destination.recovered`, when it closes; `destination.failing`, at " +
        "the fourth failure in a row; `destination.disabled`, when the relay makes a destination Inactive because it " +
        "only failed; `event.exhausted`, when an event becomes a CriticalFailure: at most one a minute and " +
        "destination, with a `count`; `certificate.expiring`, 14 days before the end of a destination's client " +
        "certificate, once for each. " +
        "Notifications are signed, delivered and retried like any event. Their own failures, and those of test " +
        "events, notify nobody. The same one may come twice after a crash.",
      body: createNotificationSubscription,
      examples: { usual: { destinationUrlId, types } },
      answers: {
        201: json("notification-subscription", "The subscription.", notificationSubscription),
        403: problem(
          "The caller is a Viewer, or the destination belongs to another tenant.",
          "only Developer or above may create notification subscriptions",
          "the destination belongs to another tenant",
        ),
        404: problem("No such destination.", "destination not found"),
        422: problem(
          "The tenant has the most subscriptions.",
          `the tenant has ${mostSubscriptions} notification subscriptions, which is the most; delete one`,
        ),
      },
    }, async (call) => ({
      status: 201,
      body: await commands.notifications.subscribe(call.caller, call.input, call.origin),
    })),
    signedIn({
      id: "listNotificationSubscriptions",
      route: "GET /api/v1/notification-subscriptions",
      access: read,
      tag,
      summary: "List notification subscriptions",
      list: listNotificationSubscriptions,
      answers: {
        200: page("notification-subscription", "A page of subscriptions.", notificationSubscription),
      },
    }, async (call) => ({
      status: 200,
      body: await queries.notifications.list(call.caller, call.input.page),
    })),
    signedIn({
      id: "deleteNotificationSubscription",
      route: "DELETE /api/v1/notification-subscriptions/:id",
      access: write,
      tag,
      summary: "Delete a notification subscription",
      description: "Notifications that were accepted before are still delivered.",
      parameters: { id: "The notification subscription's id." },
      answers: {
        204: nothing("Deleted."),
        403: problem(
          "The caller is a Viewer, or the subscription belongs to another tenant.",
          "only Developer or above may delete notification subscriptions",
          "the notification subscription belongs to another tenant",
        ),
      },
    }, async (call) => {
      await commands.notifications.remove(call.caller, pathId(call), call.origin);
      return { status: 204 };
    }),
  ];
}
