/** Of an id: two groups of the time in front, and the dash behind each. */
const timeChars = 14;
const hexDigits = 12;

/**
 * The id of an event: the millisecond of its acceptance (since 1970), then its key. Ids so follow each other in
 * time, which keeps every index over them cheap to add to, however many there are.
 */
export function eventIdOf(acceptedMs: number, key: string): string {
  const time = acceptedMs.toString(16).padStart(hexDigits, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-${key}`;
}

/**
 * What tells an event from all others and names its stream: the last three groups of its id. With an idempotency
 * key it follows from that key, so that of two events with one key the second finds the stream taken.
 */
export function keyOfEvent(eventId: string): string {
  return eventId.slice(timeChars);
}
