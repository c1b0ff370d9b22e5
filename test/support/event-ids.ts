/** When an event of this id was accepted, ms since 1970. */
export function acceptedMsOf(eventId: string): number {
  return parseInt(eventId.slice(0, 13).replace("-", ""), 16);
}
