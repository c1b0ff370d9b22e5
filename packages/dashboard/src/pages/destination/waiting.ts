import type { Schemas } from "@webhook-relay/client";

/** The effect of a change, on waiting events, too. */
export function waitingText(
  { waiting }: Schemas["Destination"]["health"], effect: string, forThem: string,
): string {
  if (waiting === null) return effect;
  if (waiting === 0) return `${effect} No event waits now.`;
  return `${effect} ${waiting.toLocaleString("en")} ${waiting === 1 ? "event waits" : "events wait"} now: ${forThem}`;
}
