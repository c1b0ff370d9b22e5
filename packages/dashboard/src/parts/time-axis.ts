import { dayMs, hourMs, minuteMs, momentText, offsetMs, type Zone } from "./times.ts";

/** The buckets of a chart: when each begins, in ms since 1970, and how long each is, ms. */
export interface Buckets {
  readonly at: readonly number[];
  readonly stepMs: number;
}

/** A labelled moment of an axis, in ms since 1970. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

const steps = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs), ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7, 14, 28, 56, 112, 364].map((days) => days * dayMs),
];

/** Round times of a zone within a time, at most so many: hours and minutes, and the day where one begins. */
export function ticksOf(
  { from, to }: { readonly from: number; readonly to: number }, zone: Zone, most = 9,
): readonly Tick[] {
  const step = steps.find((each) => (to - from) / each <= most) ?? steps.at(-1) ?? dayMs;
  const ticks: Tick[] = [];
  const start = from + offsetMs(from, zone);
  for (let wall = Math.ceil(start / step) * step; ; wall += step) {
    const at = wall - offsetMs(wall - offsetMs(wall, zone), zone);
    if (at > to) return ticks;
    const text = new Date(at).toISOString();
    const label = wall % dayMs === 0 ? momentText(text, zone, "day").slice("2026-".length)
      : momentText(text, zone, "minute");
    ticks.push({ at, label });
  }
}
