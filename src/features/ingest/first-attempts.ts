import type { NewEntry, Appended } from "../../kernel/ports/event-store.ts";
import type { Webhook } from "../events/facts.ts";

/** A first attempt that is claimed by the very append that accepts its event. */
export interface FirstClaim {
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

/** Leads ingest to its process's delivery worker: acceptance and claim take one append. */
export class FirstAttempts {
  claimer: FirstClaimer | null = null;

  /** The claim of an event's first attempt, or null where it is left to the work queue. */
  claim(event: Webhook, accepted: NewEntry): FirstClaim | null {
    return this.claimer?.claimFirst(event, accepted) ?? null;
  }
}
