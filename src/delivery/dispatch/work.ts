import type { Destination } from "../../features/destinations/facts.ts";
import type { Webhook, WaitReason } from "../../features/events/facts.ts";
import type { Tenant } from "../../features/tenants/facts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import type { NewEntry, Position, Appended } from "../../kernel/ports/event-store.ts";
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

/** The last reason that kept due events of a destination from being sent. */
export interface Hold {
  readonly reason: WaitReason;
  /** When it ended, ms since 1970: an event that was due before waited for it. */
  readonly until: number;
}

/** A jump of the wall clock by this much makes a hold from before it unknown, ms. */
const jumpMs = 1_000;

/** Remembers what kept the events of one destination from being sent last, so that their claims can say it. */
export class Holds {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  #present: WaitReason | undefined;
  #last: Hold | undefined;
  /** The difference of the two clocks at the end of the last hold. */
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

/** A first attempt that is claimed by the very append that accepts its event. */
export interface FirstClaim {
  /** To be appended right behind the acceptance. */
  readonly entries: readonly NewEntry[];
  /** Call once, with the outcome of the append. */
  settle(outcome: ClaimOutcome): void;
}

/** The outcome of an append: it is in the log, it is not, or that is unknown, since the log did not answer. */
export type ClaimOutcome = Appended | "refused" | "unknown";

/** Claims first attempts for a delivery worker of this process. */
export interface FirstClaimer {
  /** Null where the attempt must wait. `accepted`: the entry that is going to accept the event. */
  claimFirst(event: Webhook, accepted: NewEntry): FirstClaim | null;
}

/**
 * Where ingest finds the delivery worker of its own process, if there is one. An event whose destination has room is
 * accepted and claimed in one append: it is on its way one commit earlier, for one commit less.
 */
export class FirstAttempts {
  /** The worker that runs now. */
  claimer: FirstClaimer | null = null;

  /** The claim of an event's first attempt, or null where it is left to the work queue. */
  claim(event: Webhook, accepted: NewEntry): FirstClaim | null {
    return this.claimer?.claimFirst(event, accepted) ?? null;
  }
}
