import type { Buckets } from "../../parts/time-axis.ts";
import { dayMs, hourMs, minuteMs } from "../../parts/times.ts";

/** The statistics that the histogram asks for, and the length of its bars. */
interface Scale {
  readonly Bucket: "1m" | "5m" | "1h" | "1d";
  readonly From: string;
  readonly To: string;
  readonly stepMs: number;
}

/** The bars of each length, and the longest time that they are used for: some 120 fit on a screen. */
const scales: readonly (readonly [stepMs: number, bucket: Scale["Bucket"], longestMs: number])[] = [
  [minuteMs, "1m", 2 * hourMs], [5 * minuteMs, "5m", 8 * hourMs], [15 * minuteMs, "5m", 30 * hourMs],
  [hourMs, "1h", 5 * dayMs], [6 * hourMs, "1h", 30 * dayMs], [dayMs, "1d", 120 * dayMs], [7 * dayMs, "1d", Infinity],
];
/** The most points that the relay answers. */
const mostDays = 1_500;
/** The shortest time that is shown without a chosen one. */
const leastMs = hourMs;

/**
 * The scale for a time; without a beginning the 24 hours before its end, or the time since `began`, when the tenant
 * was created. `now` and `began` are in ms since 1970.
 */
export function scaleOf(
  { From, To }: { readonly From?: string; readonly To?: string }, now: number, began = 0,
): Scale {
  const end = parsed(To) ?? now;
  const asked = parsed(From) ?? Math.max(end - dayMs, Math.min(began, end - leastMs));
  const start = Math.max(Math.min(asked, end - minuteMs), end - mostDays * dayMs + dayMs);
  const [stepMs, Bucket] = scales.find(([, , longest]) => end - start <= longest) ?? [7 * dayMs, "1d"];
  return { Bucket, From: new Date(start).toISOString(), To: new Date(end).toISOString(), stepMs };
}

/** Points by bars of a length, which begin at its multiples: the beginning of each bar, and its points. */
export function bars<Point extends { readonly at: string }>(
  points: readonly Point[], stepMs: number,
): { readonly buckets: Buckets; readonly bars: readonly (readonly Point[])[] } {
  const byBar = Map.groupBy(points, ({ at }) => Math.floor(Date.parse(at) / stepMs) * stepMs);
  return { buckets: { at: [...byBar.keys()], stepMs }, bars: [...byBar.values()] };
}

function parsed(at: string | undefined): number | undefined {
  const ms = at === undefined ? NaN : Date.parse(at);
  return Number.isNaN(ms) ? undefined : ms;
}
