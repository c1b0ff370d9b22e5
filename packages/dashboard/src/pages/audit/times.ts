/** The zone of the preferences. */
type Zone = "UTC" | "local";

/** A moment as a field for date and time shows it, in the zone of the preferences: `2026-11-22T03:00:00`. */
export function fieldTime(at: string | undefined, zone: Zone): string {
  const ms = Date.parse(at ?? "");
  if (Number.isNaN(ms)) return "";
  const offsetMs = zone === "UTC" ? 0 : new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, -1);
}

/** The moment of such a field, as ISO 8601 in UTC; empty where the field is. */
export function timeInField(value: string, zone: Zone): string {
  return value === "" ? "" : new Date(zone === "UTC" ? `${value}Z` : value).toISOString();
}
