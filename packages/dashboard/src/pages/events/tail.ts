import type { Item } from "./filters.ts";

/** The most rows that a tail keeps. */
export const mostTailed = 1_000;
/** The time over which the rate is counted, ms. */
const rateMs = 60_000;

/** The rows of a tail with the newest events before them: each event once, newest first, and no more than it keeps. */
export function withNewest(rows: readonly Item[], newest: readonly Item[]): readonly Item[] {
  const known = new Set(rows.map(({ id }) => id));
  const added = newest.filter(({ id }) => !known.has(id));
  return added.length === 0 ? rows : [...added, ...rows].slice(0, mostTailed);
}

/** The arrivals, in ms since 1970, of the last minute; the same list where none is older. */
export function lastMinute(arrivals: readonly number[], now: number): readonly number[] {
  return arrivals.some((at) => now - at >= rateMs) ? arrivals.filter((at) => now - at < rateMs) : arrivals;
}
