import type { Document as Stored } from "mongodb";

/** An expression that is the time. */
export type Now = () => string | Date;
type Time = ReturnType<Now> | Stored;

/** The server's own clock, at the moment it carries a command out. */
export const serverTime: Now = () => "$$NOW";

/** The time, `ms` milliseconds later. */
export function after(now: ReturnType<Now>, ms: number): Stored {
  return { $add: [now, ms] };
}

/**
 * Whether an end has passed; a missing end counts as passed. As numbers: not every server compares its time to dates.
 */
export function hasEnded(end: Time, now: ReturnType<Now>): Stored {
  return { $lte: [{ $toLong: end }, { $toLong: now }] };
}

/** The later of two times. */
export function later(one: Time, other: Time): Stored {
  return { $toDate: { $max: [{ $toLong: one }, { $toLong: other }] } };
}
