import type { Ordering } from "../../src/kernel/domain/ordering.ts";
import { hold } from "./broken.ts";
import type { checkTurn } from "./probe-turns.ts";
import { finished } from "./purged.ts";
import { inForce, type EventRecord, type Past } from "./records.ts";

/** How destinations are ordered. */
export const orderings: readonly Ordering[] = ["destination", { by: "/of" }, { by: "/of" }];

interface Clocks {
  readonly now: () => number;
  readonly newsMs: number;
  /** The time within which the sweeper finds the next event of an order. */
  readonly roundMs: number;
}

/** The order in which events of ordered destinations have to be sent. */
export class Order {
  readonly #clocks: Clocks;
  readonly #orderings = new Map<string, Past<Ordering>>();
  /** When the last event of a slot was finished, by destination and slot. */
  readonly #passedAt = new Map<string, number>();

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** Learns the ordering that a fact of a destination tells, if it does. */
  learn(destinationId: string, type: string, data: Readonly<Record<string, unknown>>): void {
    const unset = type === "DestinationRegistered" ? "none" : undefined;
    const ordering = (data["ordering"] as Ordering | undefined) ?? unset;
    if (ordering === undefined) return;
    const past = this.#orderings.get(destinationId) ?? [];
    this.#orderings.set(destinationId, past);
    past.push({ since: this.#clocks.now(), value: ordering });
  }

  /** An event was accepted or put back to work, in this slot; checks the slot unless the ordering is news. */
  join(event: EventRecord, position: string, slot: number | undefined): void {
    const known = inForce(this.#orderings.get(event.destinationId) ?? [], this.#clocks.now() - 2 * this.#clocks.newsMs);
    const [ordering] = known;
    const isSure = known.length === 1 && ordering !== undefined && !event.test;
    const isRight = !isSure || (slot === undefined) === (ordering === "none");
    hold(isRight, "an event has a slot where its destination is ordered", () => `${event.id}: ${slot}`);
    event.place = position;
    event.slot = slot ?? null;
    event.line = isSure ? lineOf(ordering, event) : null;
  }

  /** An attempt at an event begins: all earlier ones of its key are delivered or given up. */
  begins(event: EventRecord, events: Iterable<EventRecord>): void {
    if (event.line === null) return;
    for (const earlier of events) {
      const isBefore = earlier.line === event.line && earlier.place < event.place && isUnfinished(earlier);
      hold(!isBefore, "no event of a key is sent before an earlier one is delivered or given up",
        () => `${event.id} before ${earlier.id}, which is ${earlier.status}`);
    }
  }

  /** A probe is claimed: no head of a slot is older that is due by then for all clocks. */
  readonly checkProbe: typeof checkTurn = (_destination, { eventId, at }, all, seen) => {
    const { newsMs, clocksApartMs, now, where } = seen;
    const events = [...all];
    const event = events.find(({ id }) => id === eventId);
    if (clocksApartMs === Infinity || !event || event.slot === null) return;
    const knownBy = new Date(Date.parse(at) - newsMs - clocksApartMs).toISOString();
    const heads = new Map<number, EventRecord>();
    for (const other of events) {
      if (other.destinationId !== event.destinationId || other.slot === null || !isUnfinished(other)) continue;
      const head = heads.get(other.slot);
      if (!head || other.place < head.place) heads.set(other.slot, other);
    }
    const passedOver = [...heads.values()].find((head) =>
      head.place < event.place && head.movedAt < now - newsMs && this.since(head) < now - newsMs
      && (head.status === "Pending" || (head.status === "WaitingRetry" && (head.nextAttemptAt ?? "") < knownBy)));
    const what = () => `${where()}: ${eventId}, not ${passedOver?.id}`;
    hold(passedOver === undefined, "the oldest head of an order is the probe", what);
  };

  /** An event was finished: the next one of its slot is possible, at once if it was delivered or given up. */
  finishes({ destinationId, slot, status }: EventRecord): void {
    if (slot === null) return;
    const { now, roundMs } = this.#clocks;
    this.#passedAt.set(`${destinationId}/${slot}`, now() + (status === "Cancelled" ? roundMs : 0));
  }

  /** The time since which the event may be the head of its slot. */
  since({ destinationId, slot }: EventRecord): number {
    return this.#passedAt.get(`${destinationId}/${slot}`) ?? -Infinity;
  }

  /** Whether a destination is, or was at any time, ordered. */
  has(destinationId: string): boolean {
    return this.#orderings.get(destinationId)?.some(({ value }) => value !== "none") ?? false;
  }
}

function isUnfinished({ status, purgedAt, deleted }: EventRecord): boolean {
  return !finished.includes(status) && purgedAt === null && !deleted;
}

/** What events share that are sent one after the other; null where they are not. */
function lineOf(ordering: Ordering, { destinationId, payload }: EventRecord): string | null {
  if (ordering === "none") return null;
  const key = ordering === "destination" ? "" : JSON.stringify((JSON.parse(payload) as { readonly of?: unknown }).of);
  return `${destinationId} ${JSON.stringify(ordering)} ${key}`;
}
