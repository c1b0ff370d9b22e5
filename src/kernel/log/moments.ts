import { lastMoments, minuteOf, type MomentDocument } from "../../../projections/moments/moments.ts";
import { parseDateTime } from "../callers/input-rules.ts";
import { refuse } from "../domain/refusal.ts";
import { timestamp, type Timestamp } from "../domain/time.ts";
import { type Clock, timestampNow } from "../ports/clock.ts";
import { logStart, type EntryTime, type EventLog, type EventStore, type Position } from "../ports/event-store.ts";
import type { ReadModels } from "../ports/read-models.ts";
import type { Freshness } from "../read-models/freshness.ts";
import { RecentlyUsed } from "../tools/recently-used.ts";
import { LongReads, type Turn } from "./long-reads.ts";

const pageEntries = 500;
const remembered = 1_000;

/** A moment: a time, and the last place in the log up to which no entry is of a later time. */
export interface Moment {
  readonly time: Timestamp;
  readonly position: Position;
}

/** A moment as a caller names it. */
export type NamedMoment = { readonly time: Timestamp } | { readonly position: Position };

/** The moment that a caller means, and whether it is the present. */
export interface Found {
  readonly moment: Moment;
  readonly isPresent: boolean;
}

interface Seen {
  readonly moment: Moment;
  readonly isFinal: boolean;
}

interface MomentParts {
  readonly store: EventLog & Pick<EventStore, "readStream">;
  readonly readModels: Pick<ReadModels, "find">;
  readonly freshness: Freshness;
  readonly clock: Clock;
}

/** Finds moments in the log: it reads no more than what was written in about two minutes ({@link lastMoments}). */
export class Moments {
  readonly #parts: MomentParts;
  /** Moments that entries to come cannot change, by what was asked for. */
  readonly #known: RecentlyUsed<Moment>;

  constructor(parts: MomentParts) {
    this.#parts = parts;
    this.#known = new RecentlyUsed(parts.clock, { max: remembered });
  }

  read(text: string): NamedMoment {
    if (this.#parts.store.isPosition(text)) return { position: text };
    if (/^[\d/]+$/.test(text)) refuse("invalid", "AsOf: must be a time, or a position of this relay's log");
    return { time: parseDateTime("AsOf", text) };
  }

  /** The moment that a tenant's caller names, or the present. Throws a Refusal (unavailable), LogUnavailable. */
  async find(tenantId: string, asked?: NamedMoment): Promise<Found> {
    const { store, clock } = this.#parts;
    const now = timestampNow(clock);
    if (!asked || ("time" in asked && asked.time >= now)) {
      return { moment: { time: now, position: await store.head() }, isPresent: true };
    }
    const name = "time" in asked ? asked.time : asked.position;
    const known = this.#known.get(name);
    if (known) return { moment: known, isPresent: false };
    const head = await store.head();
    if ("position" in asked && asked.position >= head) {
      return { moment: { time: now, position: head }, isPresent: true };
    }
    const { moment, isFinal } = await LongReads.of(store).run(tenantId, (turn) =>
      "time" in asked ? this.#atTime(asked.time, turn) : this.#atPosition(asked.position, turn));
    if (isFinal) {
      this.#known.set(name, moment);
      this.#known.set(moment.position, moment);
    }
    return { moment, isPresent: false };
  }

  async #atTime(time: Timestamp, turn: Turn): Promise<Seen> {
    const places = await this.#places("minute", minuteOf(time), 2);
    // The entry that began the minute of the time itself may be later than the time.
    const from = places.find(({ at }) => at <= time);
    let position = from?.position ?? logStart;
    const isFinal = await this.#scan(position, turn, (entry) => {
      if (entry.at !== null && entry.at > time) return true;
      ({ position } = entry);
      return false;
    });
    return { moment: { time, position }, isFinal };
  }

  async #atPosition(position: Position, turn: Turn): Promise<Seen> {
    const [from] = await this.#places("position", position, 1);
    let time = from?.at ?? timestamp(0);
    if (from) {
      await this.#scan(from.position, turn, (entry) => {
        if (entry.position > position) return true;
        if (entry.at !== null && entry.at > time) time = entry.at;
        return false;
      });
    }
    return { moment: { time, position }, isFinal: true };
  }

  #places(field: "minute" | "position", to: string, limit: number): Promise<readonly MomentDocument[]> {
    const { freshness, readModels } = this.#parts;
    return freshness.ask(() =>
      readModels.find({ ...lastMoments(field, to), limit }) as Promise<readonly MomentDocument[]>);
  }

  async #scan(after: Position, turn: Turn, isBeyond: (entry: EntryTime) => boolean): Promise<boolean> {
    for (let from = after; ;) {
      const { times, upTo } = await turn(() => this.#parts.store.readTimes(from, pageEntries));
      if (times.some(isBeyond)) return true;
      if (upTo <= from) return false;
      from = upTo;
    }
  }
}
