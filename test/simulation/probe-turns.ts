import { hold } from "./broken.ts";
import type { DestinationRecord, EventRecord } from "./records.ts";

/** The rules of the simulation, the time in it (ms), and the claim in words. */
interface Seen {
  readonly newsMs: number;
  readonly clocksApartMs: number;
  readonly now: number;
  readonly where: () => string;
}

/**
 * Checks that a claimed probe is the oldest held event after the last probe of its outage, or else the oldest of all.
 * The prober need not know of events that became held just now.
 */
export function checkTurn(
  { id, lastProbe }: DestinationRecord,
  { eventId, at }: { readonly eventId: string; readonly at: string },
  events: Iterable<EventRecord>,
  { newsMs, clocksApartMs, now, where }: Seen,
): void {
  if (clocksApartMs === Infinity) return;
  const knownBy = new Date(Date.parse(at) - newsMs - clocksApartMs).toISOString();
  const held = [...events].filter((event) =>
    event.destinationId === id && !event.test && event.purgedAt === null && event.movedAt < now - newsMs
    && (event.status === "Pending" || (event.status === "WaitingRetry" && (event.nextAttemptAt ?? "") < knownBy)));
  const isBefore = (one: string, other: string) => {
    const [late, otherLate] = [one <= (lastProbe ?? ""), other <= (lastProbe ?? "")];
    return late === otherLate ? one < other : otherLate;
  };
  const passedOver = held.find((event) => isBefore(event.id, eventId));
  hold(passedOver === undefined, "probes take turns", () =>
    `${where()}: ${eventId}, not ${passedOver?.id}, after ${lastProbe}`);
}
