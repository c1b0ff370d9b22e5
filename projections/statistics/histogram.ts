/** Bins of a time scale of which 48 reach from 1 ms to 60 s; longer times have further bins. */
const binsToMinute = 48;
const ratio = 60_000 ** (1 / binsToMinute);
const logRatio = Math.log(ratio);
/** How many bins there are. */
export const mostBins = 120;

/** The number of the bin that a duration in ms is in. */
export function binOf(ms: number): number {
  return Math.min(Math.max(Math.floor(Math.log(Math.max(ms, 1)) / logRatio + 1e-9), 0), mostBins - 1);
}

/** The duration, ms, that stands for a bin: at most 12.2 % off each duration in it, of 1 ms or more. */
function middleOf(bin: number): number {
  return ratio ** (bin + 0.5);
}

/** Durations by their number in each bin. */
export type Histogram = ReadonlyMap<number, number>;

/**
 * The smallest duration, ms, that a share of all durations does not exceed; null where there are none. `longest`: no
 * duration is longer.
 */
export function percentileOf(histogram: Histogram, share: number, longest = Infinity): number | null {
  const total = [...histogram.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = Math.ceil(share * total);
  for (const [bin, count] of [...histogram].sort(([one], [other]) => one - other)) {
    left -= count;
    if (left <= 0) return Math.min(Math.round(middleOf(bin) * 100) / 100, longest);
  }
  return null;
}
