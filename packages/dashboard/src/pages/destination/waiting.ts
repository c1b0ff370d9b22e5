/** The effect of a change, and what it means for events that wait now. */
export function waitingText(waiting: number | undefined, effect: string, forThem: string): string {
  if (waiting === undefined) return effect;
  if (waiting === 0) return `${effect} No event waits now.`;
  return `${effect} ${waiting.toLocaleString("en")} ${waiting === 1 ? "event waits" : "events wait"} now: ${forThem}`;
}
