import { refuse } from "../../kernel/domain/refusal.ts";
import { changesOf, type NewValues } from "../../kernel/domain/settings.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import { subscriptionFacts, type Subscription, type SubscriptionEvent, type Subscriptions, type SubscriptionSettings }
  from "./facts.ts";

/** Subscriptions of one owner, and of those without an owner, to one sender at most. */
export const mostSubscriptions = 50;

/** Commands to the subscriptions of an owner. In a change, fields left out (undefined) stay as they are. */
export type SubscriptionsCommand =
  | {
      readonly type: "Subscribe";
      readonly subscription: Omit<Subscription, "active" | "revision" | "createdAt" | "updatedAt">;
      readonly at: Timestamp;
    }
  | NewValues<SubscriptionSettings> & {
      readonly type: "ChangeSubscription";
      readonly id: string;
      readonly active?: boolean | undefined;
      readonly at: Timestamp;
    }
  | { readonly type: "Unsubscribe"; readonly id: string; readonly at: Timestamp };

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(
  { live }: Pick<Subscriptions, "live"> = { live: [] }, command: SubscriptionsCommand,
): SubscriptionEvent[] {
  const { at } = command;
  if (command.type === "Subscribe") {
    const { id: subscriptionId, ...subscription } = command.subscription;
    if (live.some(({ destinationId }) => destinationId === subscription.destinationId)) {
      refuse("conflict", "the destination has a subscription to this sender for this owner");
    }
    if (live.length >= mostSubscriptions) {
      const whose = subscription.ownerId === null ? "without an owner" : "of this owner";
      refuse("rejected", `the sender has ${mostSubscriptions} subscriptions ${whose}, which is the most; delete one`);
    }
    return [{ type: "SubscriptionCreated", data: { subscriptionId, ...subscription, at } }];
  }
  const subscription = live.find(({ id }) => id === command.id) ?? refuse("not-found", "subscription not found");
  const { id: subscriptionId, tenantId, senderId, ownerId } = subscription;
  const ids = { subscriptionId, tenantId, senderId, ownerId, at };
  if (command.type === "Unsubscribe") return [{ type: "SubscriptionDeleted", data: ids }];
  const { active } = command;
  const events: SubscriptionEvent[] = changesOf(subscriptionFacts, subscription, command, ids);
  if (active !== undefined && active !== subscription.active) {
    events.push({ type: active ? "SubscriptionActivated" : "SubscriptionDeactivated", data: ids });
  }
  return events;
}
