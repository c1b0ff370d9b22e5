import type { OrderedDocument } from "../../../projections/due/due.ts";
import { millis } from "../../kernel/domain/time.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import type { Due, Ended, Place } from "./work.ts";

/** One slot of an ordered destination. */
interface Lane {
  /** Where the newest event is that is known to be delivered or given up. */
  passed: Place | undefined;
  /** When that became known, ms since 1970. */
  passedAt: number | undefined;
  underWay: string | undefined;
  /** The events after `passed`, in their order. */
  queue: readonly Place[];
  /** Whether the due index may hold events after those of the queue. */
  more: boolean;
}

/**
 * The work at hand of an ordered destination. Of each slot one event at a time is taken: the first of which all
 * earlier ones are known to be delivered or given up. That stays true, so stale knowledge never breaks the order.
 */
export class OrderedWork {
  readonly #clock: Pick<Clock, "now">;
  readonly #lanes = new Map<number, Lane>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  get count(): number {
    return [...this.#lanes.values()].reduce((sum, { queue }) => sum + queue.length, 0);
  }

  get idle(): boolean {
    return [...this.#lanes.values()].every(({ queue }) => queue.length === 0);
  }

  /** Those of the slots that have no event at hand or under way. The others may have more events than are known. */
  free(slots: readonly number[]): readonly number[] {
    return slots.filter((slot) => {
      const lane = this.#lanes.get(slot);
      const isFree = !lane || (lane.underWay === undefined && lane.queue.length === 0);
      if (!isFree) lane.more = true;
      return isFree;
    });
  }

  /** The place after which a slot goes on; undefined where none is known. */
  passed(slot: number): Place | undefined {
    return this.#lanes.get(slot)?.passed;
  }

  /** Takes in the first events of a free slot, unless its head is not due. `more`: there may be others. */
  offer(slot: number, events: readonly OrderedDocument[], more: boolean): void {
    const lane = this.#lanes.get(slot) ?? newLane();
    const queue = events.filter(({ position }) => !isPassed(lane, position));
    const [head] = queue;
    if (!head || !isDue(head, this.#clock.now())) return;
    this.#lanes.set(slot, lane);
    lane.queue = queue.map(placeOf);
    lane.more = more;
  }

  /** Takes the oldest event that may be sent. Its slot gives no other before its {@link end}. */
  take(): Due | undefined {
    let oldest: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      const [head] = lane.underWay === undefined ? lane.queue : [];
      if (head && !(oldest && positionOf(oldest) < head.position)) oldest = lane;
    }
    const place = oldest?.queue[0];
    if (!oldest || !place) return undefined;
    oldest.queue = oldest.queue.slice(1);
    oldest.underWay = place.eventId;
    const { passedAt } = oldest;
    const waited = passedAt !== undefined && { held: { reason: "ordering", until: passedAt } as const };
    return { kind: "due", eventId: place.eventId, place, ...waited };
  }

  /** An attempt ended. Returns whether the due index must be asked for the next event. */
  end(place: Place, ended: Ended | undefined): boolean {
    const lane = this.#lanes.get(place.slot) ?? newLane();
    this.#lanes.set(place.slot, lane);
    if (lane.underWay === place.eventId) lane.underWay = undefined;
    if (ended === undefined || !isOver(ended)) {
      // The event keeps its place at the head: it is looked for again when it is due.
      lane.queue = [];
      return ended === "not ours";
    }
    if (!isPassed(lane, place.position)) [lane.passed, lane.passedAt] = [place, this.#clock.now()];
    lane.queue = lane.queue.filter(({ position }) => !isPassed(lane, position));
    return lane.queue.length === 0 && lane.more;
  }

  /** Drops the work at hand: the due index has all of it. */
  drop(): void {
    for (const lane of this.#lanes.values()) lane.queue = [];
  }
}

function newLane(): Lane {
  return { passed: undefined, passedAt: undefined, underWay: undefined, queue: [], more: false };
}

function positionOf({ queue }: Lane): Position {
  return queue[0]?.position ?? "";
}

function isPassed({ passed }: Lane, position: Position): boolean {
  return passed !== undefined && position <= passed.position;
}

/** The place of an event as the due index has it. */
export function placeOf({ slot, eventId, position }: OrderedDocument): Place {
  return { slot, eventId, position };
}

/** Whether an event that is not under way is due at `now`, ms since 1970. */
export function isDue({ dueAt }: Pick<OrderedDocument, "dueAt">, now: number): boolean {
  return dueAt !== null && millis(dueAt) <= now;
}

/** Whether the slot goes on to its next event; one that nobody can read is passed over. */
function isOver(ended: Ended): boolean {
  return ended === "delivered" || ended === "given up"
    || ended === "over" || ended === "gone" || ended === "unreadable";
}
