import { dayMs, hourMs, minuteMs } from "../../parts/times.ts";
/** The statistics that the histogram asks for. */
interface Scale {
  readonly Bucket: "1m" | "5m" | "1h" | "1d";
  readonly From: string;
  readonly To: string;
}

/** The longest time that each bucket is used for: some 300 bars fit on a screen. */
const scales: readonly (readonly [bucket: Scale["Bucket"], longestMs: number])[] = [
  ["1m", 4 * hourMs], ["5m", dayMs], ["1h", 12 * dayMs], ["1d", Infinity],
];
/** The most points that the relay answers. */
const mostDays = 1_500;

/** Lengths of buckets, ms. */
export const bucketMs: Readonly<Record<Scale["Bucket"], number>> = {
  "1m": minuteMs, "5m": 5 * minuteMs, "1h": hourMs, "1d": dayMs,
};

/** The scale for a time; without a beginning the 24 hours before its end. `now` is in ms since 1970. */
export function scaleOf({ From, To }: { readonly From?: string; readonly To?: string }, now: number): Scale {
  const end = parsed(To) ?? now;
  const asked = parsed(From) ?? end - dayMs;
  const start = Math.max(Math.min(asked, end - minuteMs), end - mostDays * dayMs + dayMs);
  const [bucket] = scales.find(([, longest]) => end - start <= longest) ?? ["1d"];
  return { Bucket: bucket, From: new Date(start).toISOString(), To: new Date(end).toISOString() };
}

function parsed(at: string | undefined): number | undefined {
  const ms = at === undefined ? NaN : Date.parse(at);
  return Number.isNaN(ms) ? undefined : ms;
}
