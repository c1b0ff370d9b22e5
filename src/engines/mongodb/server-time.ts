import type { Document as Stored } from "mongodb";

/** An expression for the time. */
export type Now = () => string | Date;
type Time = ReturnType<Now> | Stored;

/** The server's clock when it executes the command. */
export const serverTime: Now = () => "$$NOW";

export function after(now: ReturnType<Now>, ms: number): Stored {
  return { $add: [now, ms] };
}

/** Whether an end is past or missing. As numbers: not every server compares its time to dates. */
export function hasEnded(end: Time, now: ReturnType<Now>): Stored {
  return { $lte: [{ $toLong: end }, { $toLong: now }] };
}

export function later(one: Time, other: Time): Stored {
  return { $toDate: { $max: [{ $toLong: one }, { $toLong: other }] } };
}
