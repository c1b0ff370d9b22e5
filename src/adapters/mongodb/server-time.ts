import type { Document as Stored } from "mongodb";

/** An expression that is the time. */
export type Now = () => string | Date;

/** The server's own clock, at the moment it carries a command out. */
export const serverTime: Now = () => "$$NOW";

/** The time so many milliseconds later. */
export function after(now: ReturnType<Now>, ms: number): Stored {
  return { $add: [now, ms] };
}

/** Whether an end, if there is one, has come. */
export function hasEnded(end: string, now: ReturnType<Now>): Stored {
  return { $and: [{ $ne: [end, null] }, { $lte: [end, now] }] };
}
