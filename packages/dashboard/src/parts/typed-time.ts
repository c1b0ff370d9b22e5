import { relayClock } from "../api/clock.ts";
import { momentText, offsetMs, type Zone } from "./times.ts";

/** Says how to type a time. */
export const typedTimeRule = "Type a time, such as 10:05, 10:05:30.250 or 2026-11-25 10:05.";

/** The time of day, with a day before it or without; ISO 8601 with a zone is read as it is. */
const typed = /^(?:(\d{4}-\d\d-\d\d)[ T]+)?(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,3}))?)?$/;
const withZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * The moment that a person typed, such as `10:05`, in ISO 8601; without a day it is on `day`. `shown` is the moment
 * that the field showed at first: an unchanged text is that moment, and in a repeated hour of the zone a text has the
 * offset of that moment. A text in an hour that the zone skips is as late after it.
 */
export function typedMoment(text: string, zone: Zone, day: string, shown?: string): string | undefined {
  const [matched, itsDay = day, hour = "", minute = "", second = "0", fraction = "0"] = typed.exec(text.trim()) ?? [];
  if (matched === undefined) {
    return withZone.test(text.trim()) ? isoOf(Date.parse(text.trim())) : undefined;
  }
  const wall = `${itsDay}T${hour.padStart(2, "0")}:${minute}:${second.padStart(2, "0")}.${fraction.padEnd(3, "0")}`;
  const wallMs = Date.parse(`${wall}Z`);
  const shownMs = Date.parse(shown ?? "");
  if (shown !== undefined && shownMs + offsetMs(shownMs, zone) === wallMs) return shown;
  const sameOffset = wallMs - offsetMs(shownMs, zone);
  const isRight = sameOffset + offsetMs(sameOffset, zone) === wallMs;
  return isoOf(isRight ? sameOffset : zone === "UTC" ? wallMs : Date.parse(wall));
}

/** A moment as the text of a field, `2026-11-22 03:00:00`, with its milliseconds where it has some. */
export function fieldTime(at: string | undefined, zone: Zone): string {
  const ms = Date.parse(at ?? "");
  return (isoOf(ms + offsetMs(ms, zone)) ?? "").replace("T", " ").replace(/(\.000)?Z$/, "");
}

/**
 * The moment of a field's text, in ISO 8601, as {@link typedMoment} has it, without a day of today; empty for an empty
 * text. Any other text stays as it is, for the relay to refuse.
 */
export function timeInField(text: string, zone: Zone, shown?: string): string {
  return typedMoment(text, zone, today(zone), shown) ?? text.trim();
}

/** The day of the present. */
export function today(zone: Zone): string {
  return momentText(new Date(relayClock.now()).toISOString(), zone, "day");
}

function isoOf(ms: number): string | undefined {
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
