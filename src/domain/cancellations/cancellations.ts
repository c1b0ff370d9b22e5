import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";

/** The statuses of events that can be cancelled. */
export const cancellableStatuses = ["Pending", "WaitingRetry"] as const;
/** One of {@link cancellableStatuses}. */
export type CancellableStatus = (typeof cancellableStatuses)[number];

/** Which of a tenant's waiting events are meant; times of acceptance, both inclusive; null for any. */
export interface CancellationFilter {
  readonly destinationId: string | null;
  readonly senderId: string | null;
  readonly eventType: string | null;
  /** `name:value` */
  readonly tag: string | null;
  readonly statuses: readonly CancellableStatus[];
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  /** How many events the request named by their ids. */
  readonly ids: number | null;
}

/** Facts of a `cancellations-<tenantId>` stream: of each request to cancel many. Each event has its EventCancelled. */
export type CancellationsEvent =
  /** `matched`: how many events the filter matched when it began. */
  | DomainEvent<
      "CancellationOrdered",
      CancellationFilter & { cancellationId: string; tenantId: string; matched: number; at: Timestamp }
    >
  /** All matching events were looked at. `cancelled`: the number of events that this request cancelled. */
  | DomainEvent<
      "CancellationCompleted", { cancellationId: string; tenantId: string; cancelled: number; at: Timestamp }
    >;
