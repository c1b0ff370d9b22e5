import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";

/** Which of a tenant's events in CriticalFailure are meant; times of acceptance, both inclusive, null for any. */
export interface ReplayFilter {
  readonly destinationId: string | null;
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
}

/** Facts of a `replays-<tenantId>` stream: one for each replay request. Each event has its own EventReplayed. */
export type ReplaysEvent =
  /** `matched`: how many events the filter matched when it began. */
  | DomainEvent<
      "ReplayOrdered", ReplayFilter & { replayId: string; tenantId: string; matched: number; at: Timestamp }
    >
  /**
   * All matching events were looked at. `replayed`: how many were replayed; fewer than `matched` if another request
   * replayed some first or some cannot be replayed, more if further events were given up meanwhile.
   */
  | DomainEvent<"ReplayCompleted", { replayId: string; tenantId: string; replayed: number; at: Timestamp }>;
