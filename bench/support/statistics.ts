/** The median of any number of values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** Shares of a sample, ms. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Sorts `values` in place. */
export function percentilesOf(values: Float64Array): Percentiles {
  values.sort();
  const at = (share: number) => values[Math.min(values.length - 1, Math.ceil(values.length * share) - 1)] ?? NaN;
  return { count: values.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999), max: at(1) };
}
