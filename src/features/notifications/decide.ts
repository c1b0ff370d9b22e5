import { refuse } from "../../kernel/domain/refusal.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { Notifications, NotificationsEvent, NotificationSubscription } from "./facts.ts";

/** Notification subscriptions of one tenant at most. */
export const mostSubscriptions = 20;

/** Commands to the notification subscriptions of a tenant. */
export type NotificationsCommand =
  | {
      readonly type: "Subscribe";
      readonly subscription: Omit<NotificationSubscription, "createdAt">;
      readonly at: Timestamp;
    }
  | { readonly type: "Unsubscribe"; readonly id: string; readonly at: Timestamp };

/** The facts that a command leads to. Throws a Refusal. */
export function decide(state: Notifications, command: NotificationsCommand): NotificationsEvent[] {
  const { at } = command;
  if (command.type === "Unsubscribe") {
    const { id: subscriptionId, tenantId, destinationId } =
      state.find(({ id }) => id === command.id) ?? refuse("not-found", "notification subscription not found");
    return [{ type: "NotificationsUnsubscribed", data: { subscriptionId, tenantId, destinationId, at } }];
  }
  if (state.length >= mostSubscriptions) {
    refuse("rejected", `the tenant has ${mostSubscriptions} notification subscriptions, which is the most; delete one`);
  }
  const { id: subscriptionId, ...subscription } = command.subscription;
  return [{ type: "NotificationsSubscribed", data: { subscriptionId, ...subscription, at } }];
}
