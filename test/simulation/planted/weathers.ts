import type { Weather } from "../weather.ts";

/** Workers stall for longer than their leases, so that their attempts are given up and end late. */
export const manyLost: Partial<Weather> = {
  processes: 3, operations: 1_000, activeMs: 60_000, stallEveryMs: 3_000, stallMs: 40_000, moody: 1, moodEveryMs: 1_500,
};

/** Workers die with attempts under way, and others live: no process holds these attempts any more. */
export const manyDead: Partial<Weather> = {
  processes: 3, operations: 1_500, activeMs: 60_000, crashEveryMs: 3_000, stallEveryMs: Infinity, stopEveryMs: Infinity,
  moody: 1, moodEveryMs: 1_500,
};

/** Circuits are open for long, and no other fault keeps a prober from due events. */
export const calmProbes: Partial<Weather> = {
  processes: 1, operations: 1_500, activeMs: 60_000, moody: 1, moodEveryMs: 8_000, crashEveryMs: Infinity,
  stopEveryMs: Infinity, stallEveryMs: Infinity, outageEveryMs: Infinity, jumpEveryMs: Infinity, lossEveryMs: Infinity,
};

/** Keys come again while the purger still deletes their purged events. */
export const hurried: Partial<Weather> = {
  operations: 2_500, activeMs: 30_000, moody: 0.2,
  readModels: { usualMs: 5, slow: 0.2, slowMs: 1_500, failBefore: 0, failAfter: 0 },
};
