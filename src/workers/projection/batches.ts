import { project } from "../../../projections/index.ts";
import { categoryOf } from "../../domain/streams.ts";
import type { EventLog, EventStore, LogEntry, Position, UnreadableEntry } from "../../ports/event-store.ts";
import type { Change, PositionedChanges } from "../../ports/read-models.ts";
import type { Logger, Metrics } from "../../ports/telemetry.ts";
import { ErasedTenants } from "./erased-tenants.ts";
import { eventIdIn } from "./event-id-in.ts";
import type { Purges } from "./purges.ts";
import type { StreamsAside } from "./streams-aside.ts";

/** A part of the log, and the position it reaches. */
export type Stretch = Awaited<ReturnType<EventLog["readLog"]>>;

/** What the log up to a position changes. */
export interface Batch {
  readonly changes: readonly PositionedChanges[];
  readonly upTo: Position;
}

/** What batches are made with. */
export interface BatchesParts {
  readonly log: Pick<EventStore, "head" | "readStream">;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
  /** Turns entries into what projections are to see, as many, in the same order. Retried when it fails. */
  readonly prepare: (entries: readonly LogEntry[]) => Promise<readonly LogEntry[]>;
  readonly purges: Purges;
  readonly aside: StreamsAside;
  /** Does it until it succeeds. */
  readonly persist: <Result>(action: () => Promise<Result>) => Promise<Result>;
}

/**
 * Makes batches of what the log changes in the read models, without what is left in it of erased tenants. A stream with
 * an unreadable entry is set aside from there on.
 */
export class Batches {
  readonly #parts: BatchesParts;
  readonly #erased: ErasedTenants;

  constructor(parts: BatchesParts) {
    this.#parts = parts;
    this.#erased = new ErasedTenants(parts.log);
  }

  /**
   * The batches of consecutive stretches: one, or more where what follows depends on what was applied. Each must have
   * been applied before the next is asked for.
   */
  async *of(stretches: Iterable<Stretch> | AsyncIterable<Stretch>): AsyncGenerator<Batch, void> {
    const { aside, purges, prepare, persist } = this.#parts;
    let changes: PositionedChanges[] = [];
    let last: Position | undefined;
    for await (const { entries, upTo } of stretches) {
      for (const entry of await persist(async () => prepare(await this.#erased.without(entries)))) {
        const { position } = entry;
        const before = purges.concerns(entry) ? await persist(() => this.#changesBefore(entry)) : [];
        const own = before === null || aside.has(entry.stream) ? [] : changesOf(entry);
        if ("unreadable" in own) {
          // What is set aside with the stream follows from what was applied before.
          if (last !== undefined) yield { changes, upTo: last };
          changes = [{ position, changes: [...(before ?? []), ...(await this.#setAside(own))] }];
        } else if (own.length > 0) {
          changes.push({ position, changes: before?.length ? [...before, ...own] : own });
        }
        last = position;
        const purgeId = purgeIdIn(entry);
        if (purgeId !== undefined) {
          yield { changes, upTo: position };
          changes = [];
          await persist(() => purges.look(purgeId));
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

  /** The event that an entry is about, if any; of an unreadable one the beginning of its stream may tell. */
  async #eventIdOf(entry: LogEntry): Promise<string | undefined> {
    if (entry.unreadable === undefined) return eventIdIn(entry);
    if (categoryOf(entry.stream) !== "event") return undefined;
    const [first] = await this.#parts.log.readStream(entry.stream, { limit: 1 });
    return first && eventIdIn(first);
  }

  #setAside(entry: UnreadableEntry): Promise<readonly Change[]> {
    const { aside, logger, metrics, persist } = this.#parts;
    const { stream, revision, type, position, unreadable } = entry;
    metrics.trouble("stream set aside");
    const fields = { stream, revision, type, position, unreadable };
    logger.error(fields, "an entry cannot be read: its stream is set aside");
    return persist(async () => aside.add(entry, await this.#eventIdOf(entry)));
  }
}

/** The purge that an entry is about, if any. */
function purgeIdIn(entry: LogEntry): string | undefined {
  if (entry.unreadable !== undefined || !["EventsPurged", "PurgeCompleted"].includes(entry.type)) return undefined;
  return (entry.data as { readonly purgeId: string }).purgeId;
}

/** What an entry changes. One that the projections cannot take is as unreadable as one that the codec cannot. */
function changesOf(entry: LogEntry): readonly Change[] | UnreadableEntry {
  if (entry.unreadable !== undefined) return entry;
  try {
    return project(entry);
  } catch (error) {
    const { stream, revision, position, id, type } = entry;
    return { stream, revision, position, id, type, unreadable: `not projected: ${String(error)}`, newer: false };
  }
}
