import type { Destination } from "../../features/destinations/facts.ts";
import type { Webhook } from "../../features/events/facts.ts";
import type { Tenant } from "../../features/tenants/facts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import type { NewEntry, Position } from "../../kernel/ports/event-store.ts";
import type { FirstAttempt } from "../../kernel/ports/work-queue.ts";
import type { ClaimOutcome } from "../requests/first-attempts.ts";

/** An event in its current state in the log, with the ids that its next fact refers to. */
export interface Known {
  readonly state: Webhook;
  readonly revision: number;
  readonly causationId: string | null;
  readonly correlationId: string;
}

/** An attempt ready to be claimed: the event's state after the claim, and all that sending needs. */
export interface Start extends Omit<Known, "revision"> {
  /** The entries that claim the attempt. */
  readonly entries: readonly NewEntry[];
  readonly destination: Destination;
  readonly tenant: Tenant;
  /** When the claim began, monotonic ms. */
  readonly claimedFrom: number;
}

/** A claimed attempt, and the position of its claim in the log. */
export interface Claimed extends Start, Known {
  readonly position: Position;
}

/** One event to try: freshly accepted with all its data, or found in the due index and still to be read. */
export type Unclaimed =
  | { readonly kind: "first"; readonly eventId: string; readonly item: FirstAttempt }
  | { readonly kind: "due"; readonly eventId: string };

/** A first attempt that is claimed by the append that accepts its event; the append may fail. */
export interface Reserved {
  readonly kind: "reserved";
  readonly eventId: string;
  readonly start: Start;
  readonly outcome: Promise<ClaimOutcome>;
}

/** One event to try. */
export type Work = Unclaimed | Reserved;

/**
 * Why some work had no effect: another worker was first, the destination is no longer this worker's, or the event's
 * record in the log is damaged or missing.
 */
export type Miss = "nothing to do" | "not ours" | "unreadable" | "gone";

/** How work ended: the receiver took the event, or did not, or the work had no effect. */
export type Ended = "delivered" | "failed" | Miss;

/** The origin of a worker's entries in the log. */
export function originOf(known: Pick<Known, "correlationId" | "causationId">, workerId: string): Origin {
  const { correlationId, causationId } = known;
  return { actor: { type: "service", part: `delivery/${workerId}` }, correlationId, causationId };
}
