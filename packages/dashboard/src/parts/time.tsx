import { useEffect, useState, type ReactNode } from "react";
import { relayClock } from "../api/clock.ts";
import { usePreferences, type Preferences } from "../app/preferences.tsx";
import { durationText } from "./duration.ts";

export { durationText };

const day: Intl.DateTimeFormatOptions = { year: "numeric", month: "2-digit", day: "2-digit" };
const clock: Intl.DateTimeFormatOptions = {
  hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23",
};
/** Swedish writes years first, and so does ISO 8601. */
const formats = (options: Intl.DateTimeFormatOptions) => ({
  UTC: new Intl.DateTimeFormat("sv-SE", { ...options, timeZone: "UTC" }),
  local: new Intl.DateTimeFormat("sv-SE", options),
});
const days = formats(day);
const clocks = formats(clock);

/** A moment in the zone of the preferences, to the millisecond; its element has the ISO text. */
export function Moment({ at, only }: { readonly at: string; readonly only?: "time" | "day" }): ReactNode {
  const { zone } = usePreferences();
  return <time dateTime={at} title={at}>{momentText(at, zone, only)}</time>;
}

/** The text of a moment: `2026-11-25 18:51:34.503`, or a part of it. */
export function momentText(at: string, zone: Preferences["zone"], only?: "time" | "day"): string {
  const date = new Date(at);
  const time = clocks[zone].format(date).replace(",", ".");
  if (only === "time") return time;
  return only === "day" ? days[zone].format(date) : `${days[zone].format(date)} ${time}`;
}

/** The present, read again each second; for countdowns and ages. */
export function useNow(): number {
  const [now, setNow] = useState(() => relayClock.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(relayClock.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** How long until a moment, or since it. Screen readers read the moment itself, which does not change. */
export function Countdown({ to }: { readonly to: string }): ReactNode {
  const left = Date.parse(to) - useNow();
  return (
    <time dateTime={to} title={to}>
      {left > 0 ? `in ${durationText(Math.ceil(left / 1_000) * 1_000)}` : `${durationText(-left)} ago`}
    </time>
  );
}

/** How long ago a moment was; as {@link Countdown}. */
export const Ago = Countdown;
