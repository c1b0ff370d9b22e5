/** The characters of an id's time: two groups in front, and the dash behind each. */
const timeChars = 14;
const hexDigits = 12;
const latestMs = 2 ** 48 - 1;
const lowestKey = "0000-0000-000000000000";
const highestKey = "ffff-ffff-ffffffffffff";

/** The id of an event: the millisecond of its acceptance, then its key. Ascending ids keep indexes cheap. */
export function eventIdOf(acceptedMs: number, key: string): string {
  const time = acceptedMs.toString(16).padStart(hexDigits, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-${key}`;
}

/** The unique part of an event's id: its stream's name. It follows from the idempotency key, where there is one. */
export function keyOfEvent(eventId: string): string {
  return eventId.slice(timeChars);
}

/** The millisecond of acceptance (since 1970) that an event's id begins with. */
export function acceptedMsOf(eventId: string): number {
  return Number.parseInt(eventId.slice(0, 8), 16) * 0x10000 + Number.parseInt(eventId.slice(9, 13), 16);
}

/** The least id that an event accepted at `acceptedMs` (since 1970) or later can have. */
export function leastEventId(acceptedMs: number): string {
  return eventIdOf(Math.min(Math.max(acceptedMs, 0), latestMs), lowestKey);
}

/** The greatest id that an event accepted at `acceptedMs` (since 1970) or earlier can have. */
export function greatestEventId(acceptedMs: number): string {
  return acceptedMs < 0 ? leastEventId(0) : eventIdOf(Math.min(acceptedMs, latestMs), highestKey);
}
