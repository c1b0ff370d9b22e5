/** The zone in which a person reads times. */
export type Zone = "UTC" | "local";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

const day: Intl.DateTimeFormatOptions = { year: "numeric", month: "2-digit", day: "2-digit" };
const clock: Intl.DateTimeFormatOptions = {
  hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23",
};
/** Swedish writes years first, as ISO 8601 does. */
const formats = (options: Intl.DateTimeFormatOptions) => ({
  UTC: new Intl.DateTimeFormat("sv-SE", { ...options, timeZone: "UTC" }),
  local: new Intl.DateTimeFormat("sv-SE", options),
});
const days = formats(day);
const clocks = formats(clock);

/** The text of a moment, `2026-11-25 18:51:34.503`, or a part of it. */
export function momentText(at: string, zone: Zone, only?: "time" | "day" | "minute"): string {
  const date = new Date(at);
  const time = clocks[zone].format(date).replace(",", ".");
  if (only === "time") return time;
  if (only === "minute") return time.slice(0, "00:00".length);
  return only === "day" ? days[zone].format(date) : `${days[zone].format(date)} ${time}`;
}

/** The name of a zone, as labels of fields have it. */
export function zoneName(zone: Zone): string {
  return zone === "UTC" ? "UTC" : "local time";
}

const units = [["d", dayMs], ["h", hourMs], ["min", minuteMs], ["s", 1_000]] as const;

/** A length of time in words, two units at most: `9 min 58 s`, `1.25 s`, `548 ms`. */
export function durationText(ms: number): string {
  const whole = Math.round(Math.abs(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < minuteMs) return `${String(Math.round(whole / 10) / 100)} s`;
  const first = units.findIndex(([, size]) => whole >= size);
  const [name, size] = units[first] ?? units[3];
  const next = units[first + 1];
  const rest = next ? Math.floor((whole % size) / next[1]) : 0;
  return `${Math.floor(whole / size)} ${name}${next && rest > 0 ? ` ${rest} ${next[0]}` : ""}`;
}

/** How long ago a time was, in one unit: `3 min ago`, `in 2 h`. */
export function agoText(ms: number): string {
  const [name, size] = units.find(([, each]) => Math.abs(ms) >= each) ?? units[3];
  // Seconds by tens: a list does not change all the time.
  const count = size === 1_000 ? Math.floor(Math.abs(ms) / 10_000) * 10 : Math.floor(Math.abs(ms) / size);
  if (count === 0) return "just now";
  return ms < 0 ? `in ${count} ${name}` : `${count} ${name} ago`;
}

/** Milliseconds from one time to another; negative where the clocks of their writers disagree. */
export function between(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}

/** How far the zone's clocks are ahead of UTC at a time, ms. */
export function offsetMs(ms: number, zone: Zone): number {
  return zone === "UTC" ? 0 : -new Date(ms).getTimezoneOffset() * minuteMs;
}
