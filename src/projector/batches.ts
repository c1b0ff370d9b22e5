import { categoryOf } from "../kernel/domain/streams.ts";
import type { EventLog, EventStore, LogEntry, Position } from "../kernel/ports/event-store.ts";
import type { Change, PositionedChanges } from "../kernel/ports/read-models.ts";
import { changesOf } from "./changes-of.ts";
import { ErasedTenants } from "./erased-tenants.ts";
import type { Erasures } from "./erasures.ts";
import { eventIdIn } from "./event-id-in.ts";
import type { EventTypes } from "./event-types.ts";
import type { Minutes } from "./minutes.ts";
import type { OldStatistics } from "./old-statistics.ts";
import type { Purges } from "./purges.ts";
import type { QuarantinedStreams } from "./quarantined-streams.ts";

/** A part of the log, and the position it reaches. */
export type Stretch = Awaited<ReturnType<EventLog["readLog"]>>;

/** The changes of the log up to a position. */
export interface Batch {
  readonly changes: readonly PositionedChanges[];
  readonly upTo: Position;
}

/** The parts needed to make batches. */
export interface BatchesParts {
  readonly log: Pick<EventStore, "head" | "readStream">;
  /** Turns entries into the entries for projections, as many, in the same order. Retried when it fails. */
  readonly prepare: (entries: readonly LogEntry[]) => Promise<readonly LogEntry[]>;
  readonly purges: Purges;
  readonly erasures: Pick<Erasures, "load">;
  readonly quarantined: QuarantinedStreams;
  readonly minutes: Minutes;
  readonly types: EventTypes;
  readonly oldStatistics: OldStatistics;
  /** Repeats the action until it succeeds. */
  readonly persist: <Result>(action: () => Promise<Result>) => Promise<Result>;
}

/**
 * Makes batches of the changes that the log calls for in the read models, without the entries of erased tenants that
 * are still in it. A stream with an unreadable entry is quarantined from that entry on.
 */
export class Batches {
  readonly #parts: BatchesParts;
  readonly #erased: ErasedTenants;

  constructor(parts: BatchesParts) {
    this.#parts = parts;
    this.#erased = new ErasedTenants(parts.log);
  }

  /**
   * The batches of consecutive stretches: one, or more where later changes depend on applied earlier ones. Each must
   * have been applied before the next is asked for.
   */
  async *of(stretches: Iterable<Stretch> | AsyncIterable<Stretch>): AsyncGenerator<Batch, void> {
    const { quarantined, purges, erasures, minutes, types, oldStatistics, prepare, persist } = this.#parts;
    let changes: PositionedChanges[] = [];
    let last: Position | undefined;
    for await (const { entries, upTo } of stretches) {
      for (const entry of await persist(async () => prepare(await this.#erased.without(entries)))) {
        const { position } = entry;
        const before = purges.concerns(entry) ? await persist(() => this.#changesBefore(entry)) : [];
        const own = before === null || quarantined.has(entry.stream) ? [] : changesOf(entry);
        const changed = "unreadable" in own ? await persist(() => quarantined.add(own)) : own;
        const typed = changed === own && own.length > 0 && types.concerns(entry)
          ? await persist(() => types.changesOf(entry)) : [];
        const all = typed.length > 0 ? [...changed, ...typed] : changed;
        const whole = before?.length && all.length > 0 ? [...before, ...all] : all;
        const minute = minutes.begunBy(entry);
        oldStatistics.look(entry, minute !== undefined);
        if (minute || whole.length > 0) changes.push({ position, changes: minute ? [minute, ...whole] : whole });
        const purgeId = purgeIdIn(entry);
        if (purgeId !== undefined || entry.type === "TenantErased") {
          yield { changes, upTo: position };
          changes = [];
          await persist(() => (purgeId === undefined ? erasures.load() : purges.look(purgeId)));
        }
      }
      last = upTo;
    }
    if (last !== undefined) yield { changes, upTo: last };
  }

  async #changesBefore(entry: LogEntry): Promise<readonly Change[] | null> {
    const eventId = await this.#eventIdOf(entry);
    return eventId === undefined ? [] : this.#parts.purges.changesBefore(entry, eventId);
  }

  /** The event that an entry is about, if any; for an unreadable entry the first entry of its stream may tell. */
  async #eventIdOf(entry: LogEntry): Promise<string | undefined> {
    if (entry.unreadable === undefined) return eventIdIn(entry);
    if (categoryOf(entry.stream) !== "event") return undefined;
    const [first] = await this.#parts.log.readStream(entry.stream, { limit: 1 });
    return first && eventIdIn(first);
  }
}

/** The purge that an entry is about, if any. */
function purgeIdIn(entry: LogEntry): string | undefined {
  if (entry.unreadable !== undefined || !["EventsPurged", "PurgeCompleted"].includes(entry.type)) return undefined;
  return (entry.data as { readonly purgeId?: string } | null)?.purgeId;
}
