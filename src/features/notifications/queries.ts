import {
  notificationSubscriptions, type NotificationSubscriptionDocument,
} from "../../../projections/notifications/notifications.ts";
import type { components } from "../../../schemas/api.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { tenantCounter } from "../../kernel/ports/read-models.ts";
import { listed, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";

/** Queries about notification subscriptions. */
export class NotificationQueries {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "readModels" | "freshness">) {
    this.#parts = parts;
  }

  /** The subscriptions of the caller's tenant. Throws a Refusal (unavailable). */
  list({ tenantId }: Caller, page: PageRequest): Promise<Page<NotificationSubscriptionView>> {
    const counter = tenantCounter(notificationSubscriptions, tenantId);
    const asked = { where: { tenantId }, counter, page };
    return listed(this.#parts, notificationSubscriptions, asked, notificationSubscriptionView);
  }
}

/** A notification subscription as the API shows it. */
export type NotificationSubscriptionView = Readonly<components["schemas"]["NotificationSubscription"]>;

/** The API's view of a notification subscription. */
export function notificationSubscriptionView(
  { destinationId, types, ...subscription }: NotificationSubscriptionDocument,
): NotificationSubscriptionView {
  return { ...subscription, destinationUrlId: destinationId, types: [...types] };
}
