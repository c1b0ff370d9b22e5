/** The zone of the preferences. */
type Zone = "UTC" | "local";

/** A moment as a field for date and time shows it, in the zone of the preferences: `2026-11-22T03:00:00.000`. */
export function fieldTime(at: string | undefined, zone: Zone): string {
  const ms = Date.parse(at ?? "");
  return Number.isNaN(ms) ? "" : new Date(ms + offsetMs(ms, zone)).toISOString().slice(0, -1);
}

/**
 * The moment of such a field, as ISO 8601 in UTC; empty where the field is. `shown` is the moment that the field showed
 * at first: an unchanged text is that moment, and a text of an hour that comes twice is in the same one. A text that
 * the zone's clocks skip is as late after the skip.
 */
export function timeInField(text: string, zone: Zone, shown?: string): string {
  const wallMs = Date.parse(`${text}Z`);
  if (Number.isNaN(wallMs)) return text;
  const shownMs = Date.parse(shown ?? "");
  if (shown !== undefined && shownMs + offsetMs(shownMs, zone) === wallMs) return shown;
  const sameOffset = wallMs - offsetMs(shownMs, zone);
  const isRight = sameOffset + offsetMs(sameOffset, zone) === wallMs;
  return new Date(isRight ? sameOffset : zone === "UTC" ? wallMs : Date.parse(text)).toISOString();
}

/** How far the zone's clocks are ahead of UTC at a time, ms. */
function offsetMs(ms: number, zone: Zone): number {
  return zone === "UTC" ? 0 : -new Date(ms).getTimezoneOffset() * 60_000;
}
