import type { OrderedDocument } from "../../../projections/due/due.ts";
import { millis } from "../../kernel/domain/time.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import type { Due, Ended, Place } from "./work.ts";

/** The work of one slot of an ordered destination. */
interface SlotWork {
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
  readonly #slots = new Map<number, SlotWork>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  get count(): number {
    return [...this.#slots.values()].reduce((sum, { queue }) => sum + queue.length, 0);
  }

  get idle(): boolean {
    return [...this.#slots.values()].every(({ queue }) => queue.length === 0);
  }

  /** Those of the slots that have no event at hand or under way. The others may have more events than are known. */
  free(slots: readonly number[]): readonly number[] {
    return slots.filter((slot) => {
      const work = this.#slots.get(slot);
      const isFree = !work || (work.underWay === undefined && work.queue.length === 0);
      if (!isFree) work.more = true;
      return isFree;
    });
  }

  /** The place after which a slot goes on; undefined where none is known. */
  passed(slot: number): Place | undefined {
    return this.#slots.get(slot)?.passed;
  }

  /** Takes in the first events of a free slot, unless its head is not due. `more`: there may be others. */
  offer(slot: number, events: readonly OrderedDocument[], more: boolean): void {
    const work = this.#slots.get(slot) ?? newSlotWork();
    const queue = events.filter(({ position }) => !isPassed(work, position));
    const [head] = queue;
    if (!head || !isDue(head, this.#clock.now())) return;
    this.#slots.set(slot, work);
    work.queue = queue.map(placeOf);
    work.more = more;
  }

  /** Takes the oldest event that may be sent. Its slot gives no other before its {@link end}. */
  take(): Due | undefined {
    let oldest: SlotWork | undefined;
    for (const work of this.#slots.values()) {
      const [head] = work.underWay === undefined ? work.queue : [];
      if (head && !(oldest && positionOf(oldest) < head.position)) oldest = work;
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
    const work = this.#slots.get(place.slot) ?? newSlotWork();
    this.#slots.set(place.slot, work);
    if (work.underWay === place.eventId) work.underWay = undefined;
    if (ended === undefined || !isOver(ended)) {
      // The event keeps its place at the head: it is looked for again when it is due.
      work.queue = [];
      return ended === "not ours";
    }
    if (!isPassed(work, place.position)) [work.passed, work.passedAt] = [place, this.#clock.now()];
    work.queue = work.queue.filter(({ position }) => !isPassed(work, position));
    return work.queue.length === 0 && work.more;
  }

  /** Drops the work at hand: the due index has all of it. */
  drop(): void {
    for (const work of this.#slots.values()) work.queue = [];
  }
}

function newSlotWork(): SlotWork {
  return { passed: undefined, passedAt: undefined, underWay: undefined, queue: [], more: false };
}

function positionOf({ queue }: SlotWork): Position {
  return queue[0]?.position ?? "";
}

function isPassed({ passed }: SlotWork, position: Position): boolean {
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
