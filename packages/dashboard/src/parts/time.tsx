import { useEffect, useState, useSyncExternalStore, type ReactNode } from "react";
import { relayClock } from "../api/clock.ts";
import { usePreferences } from "../app/preferences.tsx";
import { agoText, durationText, momentText, zoneName } from "./times.ts";

/** A moment in the zone of the preferences, to the millisecond; its element has the ISO text. */
export function Moment({ at, only }: { readonly at: string; readonly only?: "time" | "day" | "minute" }): ReactNode {
  const { zone } = usePreferences();
  return <time dateTime={at} title={at}>{momentText(at, zone, only)}</time>;
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

const eachSecond = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/** Calls back each second; one timer is behind all calls. */
function onSecond(listener: () => void): () => void {
  eachSecond.add(listener);
  ticking ??= setInterval(() => eachSecond.forEach((call) => call()), 1_000);
  return () => {
    eachSecond.delete(listener);
    if (eachSecond.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

/** How long ago a moment was, `3 min ago`, with the moment itself in its tooltip; for lists. */
export function Ago({ to }: { readonly to: string }): ReactNode {
  const { zone } = usePreferences();
  const text = useSyncExternalStore(onSecond, () => agoText(relayClock.now() - Date.parse(to)));
  return <time dateTime={to} title={`${momentText(to, zone)} ${zoneName(zone)}`}>{text}</time>;
}
