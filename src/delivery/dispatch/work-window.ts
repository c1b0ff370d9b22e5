import type { Circuit } from "../../features/circuits/facts.ts";
import type { Destination } from "../../features/destinations/facts.ts";
import { timestamp } from "../../kernel/domain/time.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import { logStart, type EventLog, type Position } from "../../kernel/ports/event-store.ts";
import type { WorkItem } from "../../kernel/ports/work-queue.ts";
import type { DueIndex } from "../requests/due-index.ts";
import { isDue, OrderedWork, placeOf } from "./ordered-work.ts";
import type { PayloadBudget } from "./payload-budget.ts";
import type { Ended, Unclaimed, Work } from "./work.ts";

/** The most events at hand, however many wait. */
export const windowSize = 64;
const lowWater = 32;
/** The most events known to be unreadable: with more, a look into the due index would cost too much. */
export const mostUnreadable = 10_000;

/** The parts from which a window is filled. */
export interface WindowParts {
  readonly log: EventLog;
  readonly dueIndex: DueIndex;
  readonly clock: Clock;
  readonly payloadBudget: PayloadBudget;
}

/** The work at hand of one destination. The due index has the rest, from which the window is refilled. */
export class WorkWindow {
  readonly #parts: WindowParts;
  readonly #destinationId: string;
  readonly #pages: DuePages;
  #work: Unclaimed[] = [];
  /** Events that are sent in an order; none before the first look into an ordered destination. */
  #ordered: OrderedWork | undefined;
  /** Ids of events at hand, or taken and not ended: the due index may still name them. */
  readonly #present = new Set<string>();
  /** Events that the due index may name and this process cannot read: the events behind them must not wait. */
  readonly #unreadable = new Set<string>();
  /** Events that the due index named and the log does not hold: they are not probed. */
  readonly #gone = new Set<string>();
  /** The due index may hold more events; it must cover this position before it is asked. */
  #refillFrom: Position | undefined;
  #refilling = false;
  /** The position that the due index had to cover for the last refill, where that failed. */
  #behind: Position | undefined;
  /** While searches for a probe fail: the log's end at the first of them, and the circuit's opening. */
  #searched: { readonly openUntil: string | null; readonly upTo: Position } | undefined;
  /** The newest claim or cancellation of an event of this destination by this worker. */
  #written = logStart;
  /** Work was dropped or lost: the due index is asked before newer work starts. */
  #held = false;
  /** The last refill was cut short. Until the rest is fetched, new items wait behind it. */
  #moreWaits = false;

  constructor(destinationId: string, parts: WindowParts) {
    this.#parts = parts;
    this.#destinationId = destinationId;
    this.#pages = new DuePages(destinationId, parts);
  }

  get idle(): boolean {
    return this.#work.length === 0 && this.#ordered?.idle !== false;
  }

  /** Whether work, or a wake-up, arrived since the window was emptied. */
  get called(): boolean {
    return !this.idle || this.#refillFrom !== undefined;
  }

  /** Whether no older event waits, as far as is known. */
  get clear(): boolean {
    return this.idle && !this.#looks;
  }

  get low(): boolean {
    if (this.#unreadable.size >= mostUnreadable) return false;
    return !this.#refilling && this.#work.length < lowWater && this.#looks;
  }

  offer(item: WorkItem): void {
    if (item.kind === "wake") return this.#wantRefill(item.position);
    if (this.#knows(item.eventId)) return;
    this.#gone.delete(item.eventId);
    const hasRoom = this.#work.length < this.#places && this.#parts.payloadBudget.take(item.payload);
    if (hasRoom) this.#push({ kind: "first", eventId: item.eventId, item });
    else this.#wantRefill(item.position);
  }

  take(): Unclaimed | undefined {
    const work = this.#work.shift();
    if (!work) return this.#ordered?.take();
    this.#letGo(work);
    return work;
  }

  /** A claim or cancellation is in the log at this position: until the due index covers it, the due index is behind. */
  written(position: Position): void {
    if (position > this.#written) this.#written = position;
  }

  end(work: Work, ended: Ended | undefined): void {
    if (work.kind === "due" && work.place) {
      this.#ordered ??= new OrderedWork(this.#parts.clock);
      if (this.#ordered.end(work.place, ended)) this.#wantRefill(logStart);
      return;
    }
    const { eventId } = work;
    this.#present.delete(eventId);
    if (ended === "unreadable") this.#unreadable.add(eventId);
    if (ended === "gone") this.#gone.add(eventId);
    if (ended === "not ours") this.lookAgain();
  }

  /** Drops the work at hand when a pause begins. The next refill waits until the due index covers it. */
  holdForPause(): void {
    const positions = this.#work.flatMap((work) => (work.kind === "first" ? [work.item.position] : []));
    if (this.#refillFrom !== undefined) positions.push(this.#refillFrom);
    this.hold();
    for (const position of positions) this.#wantRefill(position);
  }

  /** Drops the work at hand: the due index has all of it. */
  hold(): void {
    for (const work of this.#work) {
      this.#present.delete(work.eventId);
      this.#letGo(work);
    }
    this.#work = [];
    this.#ordered?.drop();
    this.#held = true;
    this.#refillFrom = undefined;
    this.#behind = undefined;
    this.#pages.startOver();
  }

  /** Some work had no effect and is still to be done. */
  lookAgain(): void {
    this.#held = true;
  }

  /** Begins a refill. The function takes in events due by `dueBy` (ms since 1970); throws when the index is behind. */
  refill(): (destination: Destination, dueBy: number) => Promise<void> {
    this.#refilling = true;
    return (destination, dueBy) => this.#refill(destination, dueBy);
  }

  async #refill(destination: Destination, dueBy: number): Promise<void> {
    const told = this.#refillFrom ?? logStart;
    const upTo = this.#behind ?? later(this.#written, told);
    this.#refillFrom = undefined;
    this.#held = false;
    try {
      if (destination.ordering === "none" || destination.deleted) await this.#takeIn(destination, dueBy, upTo);
      else await this.#takeInOrdered(destination, dueBy, upTo);
      this.#behind = undefined;
      if (told > upTo) this.#wantRefill(told);
    } catch (error) {
      this.#moreWaits = false;
      // After a restore from a backup no index reaches an older item's position, which is beyond the log's end.
      const head = await this.#parts.log.head().catch(() => undefined);
      this.#wantRefill(earlier(told, head ?? told));
      this.#behind = head && earlier(upTo, head);
      throw error;
    } finally {
      this.#refilling = false;
    }
  }

  /** The event for the next probe: the first due one after the last probe of this outage, or else the first of all. */
  async oldest(circuit: Circuit, destination: Destination): Promise<Unclaimed | undefined> {
    const { log, dueIndex } = this.#parts;
    const { openUntil, probe } = circuit;
    const before = this.#searched?.openUntil === openUntil ? this.#searched.upTo : undefined;
    const upTo = before ?? (await log.head());
    this.#searched = { openUntil, upTo };
    await dueIndex.cover(later(this.#written, upTo));
    if (destination.ordering !== "none") {
      const head = await this.#oldestHead(destination);
      this.#searched = undefined;
      return head;
    }
    // A probe that is still claimed here is lost, so it is the outage's last probe.
    const last = probe?.eventId ?? circuit.lastProbe;
    const next = last === undefined ? undefined : await this.#oldestDue(circuit, last);
    const eventId = next ?? (await this.#oldestDue(circuit));
    this.#searched = undefined;
    return eventId === undefined ? undefined : { kind: "due", eventId };
  }

  async #oldestDue(circuit: Circuit, after?: string): Promise<string | undefined> {
    const { dueIndex, clock } = this.#parts;
    const limit = this.#unreadable.size + this.#gone.size + 1;
    const due = await dueIndex.oldestDue(circuit, clock.now(), limit, after);
    return due.find((eventId) => !this.#unreadable.has(eventId) && !this.#gone.has(eventId));
  }

  /** The oldest of the due heads of all slots. */
  async #oldestHead(destination: Destination): Promise<Unclaimed | undefined> {
    const { dueIndex, clock } = this.#parts;
    const destinationId = this.#destinationId;
    const slots = await dueIndex.slots(destinationId);
    const heads = await Promise.all(slots.map((slot) =>
      dueIndex.inSlot(destinationId, slot, 1, this.#ordered?.passed(slot))));
    const [head] = heads.flat()
      .filter((event) => isDue(event, clock.now()))
      .sort((one, other) => (one.position < other.position ? -1 : 1));
    if (head) return { kind: "due", eventId: head.eventId, place: placeOf(head) };
    const [eventId] = await dueIndex.unplaced({ ...destination, destinationId }, clock.now());
    return eventId === undefined ? undefined : { kind: "due", eventId };
  }

  async #takeIn({ tenantId }: Destination, dueBy: number, position: Position): Promise<void> {
    const { found, more } = await this.#pages.next({
      tenantId,
      position,
      dueBy,
      room: windowSize - this.#work.length,
      known: { count: this.#present.size + this.#unreadable.size, has: (eventId) => this.#knows(eventId) },
    });
    // The work was dropped meanwhile: the events found are dropped, too.
    if (this.#held) return this.#pages.startOver();
    const fresh = found.filter((eventId) => !this.#knows(eventId));
    const room = windowSize - this.#work.length;
    for (const eventId of fresh.slice(0, room)) this.#push({ kind: "due", eventId });
    // Items came in meanwhile: the events that no longer fit must be found once more.
    if (fresh.length > room) this.#pages.startOver();
    this.#moreWaits = more || fresh.length > room;
    if (this.#moreWaits) this.#wantRefill(position);
  }

  /** Takes in the first events of each slot that has none at hand or under way. */
  async #takeInOrdered({ tenantId, orderedSince }: Destination, dueBy: number, position: Position): Promise<void> {
    const { dueIndex, clock } = this.#parts;
    await dueIndex.cover(position);
    const destinationId = this.#destinationId;
    const ordered = (this.#ordered ??= new OrderedWork(clock));
    const slots = ordered.free(await dueIndex.slots(destinationId));
    const limit = Math.max(1, Math.floor((windowSize - ordered.count) / slots.length));
    const [lists, unplaced] = await Promise.all([
      Promise.all(slots.map((slot) => dueIndex.inSlot(destinationId, slot, limit, ordered.passed(slot)))),
      dueIndex.unplaced({ destinationId, tenantId, orderedSince }, dueBy),
    ]);
    // The work was dropped meanwhile: the events found are dropped, too.
    if (this.#held) return;
    slots.forEach((slot, at) => ordered.offer(slot, lists[at] ?? [], lists[at]?.length === limit));
    const room = windowSize - this.#work.length;
    const fresh = unplaced.filter((eventId) => !this.#knows(eventId)).slice(0, room);
    for (const eventId of fresh) this.#push({ kind: "due", eventId });
  }

  /** Whether the due index is being asked, or is to be asked once there is room. */
  get #looks(): boolean {
    return this.#refilling || this.#held || this.#refillFrom !== undefined;
  }

  /** The places for new items: they must not fill the window while the due index is to be asked. */
  get #places(): number {
    if (this.#moreWaits) return 0;
    return this.#looks ? lowWater : windowSize;
  }

  #wantRefill(position: Position): void {
    if (this.#refillFrom === undefined || this.#refillFrom < position) this.#refillFrom = position;
  }

  #knows(eventId: string): boolean {
    return this.#present.has(eventId) || this.#unreadable.has(eventId);
  }

  #letGo(work: Unclaimed): void {
    if (work.kind === "first") this.#parts.payloadBudget.giveBack(work.item.payload);
  }

  #push(work: Unclaimed): void {
    this.#work.push(work);
    this.#present.add(work.eventId);
  }
}

function later(one: Position, other: Position): Position {
  return one > other ? one : other;
}

function earlier(one: Position, other: Position): Position {
  return one < other ? one : other;
}

/** How long looks continue where one ended. Then they start over: the index may have learned of earlier work. */
const goOnForMs = 1_000;

interface LookEnd {
  readonly dueAt: string;
  readonly seen: ReadonlySet<string>;
  readonly until: number;
}

interface Look {
  readonly tenantId: string;
  /** The position that the index must cover for a look from the start. */
  readonly position: Position;
  readonly dueBy: number;
  readonly room: number;
  readonly known: { readonly count: number; has(eventId: string): boolean };
}

interface DuePagesParts {
  readonly dueIndex: DueIndex;
  readonly clock: Clock;
}

/** Looks through a destination's due work. A first look needs an index with all work so far; later ones go on. */
export class DuePages {
  readonly #destinationId: string;
  readonly #parts: DuePagesParts;
  #place: LookEnd | undefined;

  constructor(destinationId: string, parts: DuePagesParts) {
    this.#destinationId = destinationId;
    this.#parts = parts;
  }

  startOver(): void {
    this.#place = undefined;
  }

  /** Up to `room` events that are not known, longest due first; `more`: there may be others. */
  async next(
    { tenantId, position, dueBy, room, known }: Look,
  ): Promise<{ readonly found: string[]; readonly more: boolean }> {
    const { dueIndex, clock } = this.#parts;
    const before = this.#place && clock.monotonic() < this.#place.until ? this.#place : undefined;
    this.#place = undefined;
    if (!before) await dueIndex.cover(position);
    const until = before?.until ?? clock.monotonic() + goOnForMs;
    const limit = room + (before ? before.seen.size : known.count);
    const of = { destinationId: this.#destinationId, tenantId };
    const due = await dueIndex.due(of, timestamp(dueBy), limit, before?.dueAt);
    const fresh = due.filter(({ eventId }) => !known.has(eventId) && !before?.seen.has(eventId));
    const found = fresh.slice(0, room).map(({ eventId }) => eventId);
    const last = fresh.length > room ? fresh[room - 1] : due.at(-1);
    if (!last || (due.length < limit && fresh.length <= room)) return { found, more: before !== undefined };
    const { dueAt } = last;
    const seen = due.filter((one) => one.dueAt === dueAt && (known.has(one.eventId) || found.includes(one.eventId)));
    const earlier = before?.dueAt === dueAt ? before.seen : [];
    this.#place = { dueAt, seen: new Set([...earlier, ...seen.map(({ eventId }) => eventId)]), until };
    return { found, more: true };
  }
}
