import type { ClaimOutcome } from "../../application/delivery/first-attempts.ts";
import type { Origin } from "../../application/origin.ts";
import type { Destination } from "../../domain/destination/state.ts";
import type { Webhook } from "../../domain/event/state.ts";
import type { Tenant } from "../../domain/tenant/state.ts";
import type { NewEntry, Position } from "../../ports/event-store.ts";
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

/** An attempt that is claimed, and where in the log. */
export interface Claimed extends Start, Known {
  readonly position: Position;
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

/**
 * Why some work came to nothing: another was first, the destination is no longer this worker's, or the event's record
 * in the log is damaged or missing.
 */
export type Miss = "nothing to do" | "not ours" | "unreadable" | "gone";

/** What became of work: the receiver took it, or did not, or it came to nothing. */
export type Ended = "delivered" | "failed" | Miss;

/** The origin of what a worker claims, sends and records. */
export function originOf(known: Pick<Known, "correlationId" | "causationId">, workerId: string): Origin {
  const { correlationId, causationId } = known;
  return { actor: { type: "service", part: `delivery/${workerId}` }, correlationId, causationId };
}
