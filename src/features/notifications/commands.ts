import {
  notificationSubscriptions, type NotificationSubscriptionDocument,
} from "../../../projections/notifications/notifications.ts";
import type { Inputs } from "../../../schemas/api.ts";
import { ownOf, requireOwn } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { destinations } from "../destinations/facts.ts";
import { decide, type NotificationsCommand } from "./decide.ts";
import { notifications } from "./facts.ts";
import { notificationSubscriptionView, type NotificationSubscriptionView } from "./queries.ts";

/** Commands on notification subscriptions. */
export class NotificationCommands {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates" | "readModels" | "freshness" | "clock" | "ids">) {
    this.#parts = parts;
  }

  /** Subscribes a destination of the caller's tenant. Throws a Refusal (not-found, forbidden, rejected). */
  async subscribe(
    caller: Caller, { destinationUrlId, types }: Inputs["createNotificationSubscription"], origin: Origin,
  ): Promise<NotificationSubscriptionView> {
    const { aggregates, clock, ids } = this.#parts;
    const { tenantId } = caller;
    const { id: destinationId } =
      await ownOf(aggregates, destinations, destinationUrlId.toLowerCase(), caller, "destination");
    requireRole(caller, "Developer", "create notification subscriptions");
    const subscription = { id: ids.uuid(), tenantId, destinationId, types };
    const at = timestampNow(clock);
    await this.#change(tenantId, origin, { type: "Subscribe", subscription, at });
    return notificationSubscriptionView({ ...subscription, createdAt: at });
  }

  /** Deletes a subscription. Throws a Refusal (not-found, forbidden). */
  async remove(caller: Caller, id: string, origin: Origin): Promise<void> {
    const { readModels, freshness, clock } = this.#parts;
    const found = await freshness.ask(() => readModels.get(notificationSubscriptions.name, id));
    const { tenantId } = (found as NotificationSubscriptionDocument | null)
      ?? refuse("not-found", "notification subscription not found");
    requireOwn({ tenantId }, caller, "notification subscription");
    requireRole(caller, "Developer", "delete notification subscriptions");
    await this.#change(tenantId, origin, { type: "Unsubscribe", id, at: timestampNow(clock) });
  }

  async #change(tenantId: string, origin: Origin, command: NotificationsCommand): Promise<void> {
    await this.#parts.aggregates.change(notifications, tenantId, origin, (state = []) => decide(state, command));
  }
}
