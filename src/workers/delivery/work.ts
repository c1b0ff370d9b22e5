import type { ClaimOutcome } from "../../application/delivery/first-attempts.ts";
import type { Destination } from "../../domain/destination/state.ts";
import type { Webhook } from "../../domain/event/state.ts";
import type { Tenant } from "../../domain/tenant/state.ts";
import type { NewEntry } from "../../ports/event-store.ts";
import type { FirstAttempt } from "../../ports/work-queue.ts";

/** An event as it stands in the log, with what its next fact refers to. */
export interface Known {
  readonly state: Webhook;
  readonly revision: number;
  readonly causationId: string | null;
  readonly correlationId: string;
}

/** An attempt ready to be claimed: the event as it stands once it is, and what sending needs. */
export interface Start extends Omit<Known, "revision"> {
  /** What claims it. */
  readonly entries: readonly NewEntry[];
  readonly destination: Destination;
  readonly tenant: Tenant;
  /** When the claim began, monotonic ms. */
  readonly claimedFrom: number;
}

/** One event to try: freshly accepted with all it needs, or found in the due index and still to be read. */
export type Unclaimed =
  | { readonly kind: "first"; readonly eventId: string; readonly item: FirstAttempt }
  | { readonly kind: "due"; readonly eventId: string };

/** One that is claimed by the append that accepts it, which may come to nothing. */
export interface Reserved {
  readonly kind: "reserved";
  readonly eventId: string;
  readonly start: Start;
  readonly outcome: Promise<ClaimOutcome>;
}

/** One event to try. */
export type Work = Unclaimed | Reserved;

/** What came of some work: nothing to do when another was first, unreadable when its record in the log is spoiled. */
export type Result = "done" | "nothing to do" | "unreadable";
