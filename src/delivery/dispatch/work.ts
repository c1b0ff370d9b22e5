import type { Destination } from "../../features/destinations/facts.ts";
import type { Webhook, WaitReason } from "../../features/events/facts.ts";
import type { ClaimOutcome } from "../../features/ingest/first-attempts.ts";
import type { Tenant } from "../../features/tenants/facts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import type { NewEntry, Position } from "../../kernel/ports/event-store.ts";
import type { FirstAttempt } from "../../kernel/ports/work-queue.ts";

/** An event in its current state in the log, with the ids that its next fact refers to. */
export interface Known {
  readonly state: Webhook;
  readonly revision: number;
  readonly causationId: string | null;
  readonly correlationId: string;
}

/** An attempt ready to be claimed: the event's state after the claim, and the data for sending. */
export interface Start extends Omit<Known, "revision"> {
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

/** The place of an event in the order of its destination. */
export interface Place {
  readonly slot: number;
  readonly eventId: string;
  /** The position of the fact that accepted it, or put it back to work. */
  readonly position: Position;
}

/** An event found in the due index and still to be read. */
export interface Due {
  readonly kind: "due";
  readonly eventId: string;
  /** Its place, if its destination is ordered. */
  readonly place?: Place;
  /** How long it waited for an earlier event, if it did. */
  readonly held?: Hold;
}

/** One event to try: freshly accepted with all its data, or found in the due index and still to be read. */
export type Unclaimed = { readonly kind: "first"; readonly eventId: string; readonly item: FirstAttempt } | Due;

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
 * Why work had no effect: another worker was first, it is not this worker's, its record is damaged or missing, or the
 * event has left its place in the order.
 */
export type Miss = "nothing to do" | "not ours" | "unreadable" | "gone" | "over";

/** How an attempt ended: the receiver took the event, or did not, and then the event may be given up. */
export type AttemptEnd = "delivered" | "failed" | "given up";

/** How work ended: by an attempt, or without effect. */
export type Ended = AttemptEnd | Miss;

/** The origin of a worker's entries in the log. */
export function originOf(known: Pick<Known, "correlationId" | "causationId">, workerId: string): Origin {
  const { correlationId, causationId } = known;
  return { actor: { type: "service", part: `delivery/${workerId}` }, correlationId, causationId };
}

/** The last reason that kept due events of a destination from being sent. */
export interface Hold {
  readonly reason: WaitReason;
  /** When it ended, ms since 1970: an event that was due before waited for it. */
  readonly until: number;
}

/** A jump of the wall clock by this much makes a hold from before it unknown, ms. */
const jumpMs = 1_000;

/** Remembers the last hold of one destination's events, so that their claims can state it. */
export class Holds {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  #present: WaitReason | undefined;
  #last: Hold | undefined;
  #apart = 0;

  constructor(clock: Pick<Clock, "now" | "monotonic">) {
    this.#clock = clock;
  }

  /** From now on due events wait, for this reason. */
  begin(reason: WaitReason): void {
    this.#present = reason;
  }

  /** From now on events are sent; returns the hold that ended last, now or before. */
  end(): Hold | undefined {
    if (this.#present === undefined && !this.#last) return undefined;
    const now = this.#clock.now();
    const apart = now - this.#clock.monotonic();
    if (this.#present !== undefined) {
      this.#last = { reason: this.#present, until: now };
      this.#apart = apart;
      this.#present = undefined;
    } else if (Math.abs(apart - this.#apart) >= jumpMs) this.#last = undefined;
    return this.#last;
  }

  /** Events waited for something else meanwhile. */
  forget(): void {
    this.#present = undefined;
    this.#last = undefined;
  }
}

/** The later end of a hold: of all events of the destination, or of one behind an earlier event. */
export function lastOf(work: Unclaimed, held: Hold | undefined): Hold | undefined {
  const own = work.kind === "due" ? work.held : undefined;
  return own && (!held || own.until >= held.until) ? own : held;
}
