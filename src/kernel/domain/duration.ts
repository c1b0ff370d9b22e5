import { dayMs } from "./time.ts";

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: dayMs };

/** The milliseconds of a duration such as `250ms`, `5s`, `5m`, `2h` or `1d`; null for any other text. */
export function durationMs(text: string): number | null {
  const [, digits, unit] = /^(\d{1,15})(ms|s|m|h|d)$/.exec(text) ?? [];
  return digits === undefined ? null : Number(digits) * (unitsMs[unit ?? ""] ?? NaN);
}

/** A duration in the largest unit of which it is a whole number. */
export function spelledDuration(ms: number): string {
  const [unit, size] = Object.entries(unitsMs).findLast(([, size]) => ms % size === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}
