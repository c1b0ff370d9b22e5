import type { Webhook } from "../domain/event/state.ts";

/** An event as the API shows it. */
export interface EventView {
  readonly id: string;
  readonly tenantId: string;
  readonly destinationUrlId: string;
  readonly payload: string;
  readonly status: string;
  readonly idempotencyKey: string | null;
  readonly currentRetryCount: number;
  readonly nextAttemptAt: string | null;
  readonly acceptedAt: string;
  readonly deliveredAt: string | null;
}

/** The API's view of a folded event. */
export function eventView(webhook: Webhook): EventView {
  return {
    id: webhook.id,
    tenantId: webhook.tenantId,
    destinationUrlId: webhook.destinationId,
    payload: webhook.payload,
    status: webhook.status,
    idempotencyKey: webhook.idempotencyKey,
    currentRetryCount: webhook.retryCount,
    nextAttemptAt: webhook.nextAttemptAt,
    acceptedAt: webhook.acceptedAt,
    deliveredAt: webhook.deliveredAt,
  };
}
