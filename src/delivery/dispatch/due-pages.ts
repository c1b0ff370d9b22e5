import { timestamp } from "../../kernel/domain/time.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import type { DueIndex } from "../requests/due-index.ts";

/** How long looks continue where one ended. Then they start over: the index may have learned of earlier work. */
const goOnForMs = 1_000;

/**
 * Where a look ended: the caller knows all events due before `dueAt`, and of those due at that very time the `seen`
 * ones.
 */
interface Place {
  readonly dueAt: string;
  readonly seen: ReadonlySet<string>;
  /** Until when looks go on from here, monotonic ms. */
  readonly until: number;
}

/** One look into the due index. */
interface Look {
  /** The destination's tenant. */
  readonly tenantId: string;
  /** The position that the index must cover for a look from the start. */
  readonly position: Position;
  /** Due by then, ms since 1970. */
  readonly dueBy: number;
  readonly room: number;
  /** Events that the caller has already. */
  readonly known: { readonly count: number; has(eventId: string): boolean };
}

interface DuePagesParts {
  readonly dueIndex: DueIndex;
  readonly clock: Clock;
}

/**
 * Looks through the due work of one destination. A look from the start needs an index that covers all work done so far,
 * and so makes the projection flush; the looks that continue from there do not. A lagging index may name work that is
 * already done: its claim then fails.
 */
export class DuePages {
  readonly #destinationId: string;
  readonly #parts: DuePagesParts;
  #place: Place | undefined;

  constructor(destinationId: string, parts: DuePagesParts) {
    this.#destinationId = destinationId;
    this.#parts = parts;
  }

  /** The next look is from the start. */
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
