import { categoryOf } from "../kernel/domain/streams.ts";
import type { EventLog, EventStore, LogEntry, Position } from "../kernel/ports/event-store.ts";
import type { Change, PositionedChanges } from "../kernel/ports/read-models.ts";
import { changesOf, eventIdIn } from "./entries.ts";
import { ErasedTenants, type Erasures } from "./erasures.ts";
import type { EventTypes } from "./event-types.ts";
import type { Incidents } from "./incidents.ts";
import type { Minutes, OldStatistics } from "./minutes.ts";
import type { Purges } from "./purges.ts";
import type { QuarantinedStreams } from "./quarantined-streams.ts";

/** Consecutive entries of the log, and their end. */
export type Stretch = Awaited<ReturnType<EventLog["readLog"]>>;

/** The changes of the log up to a position. */
export interface Batch {
  readonly changes: readonly PositionedChanges[];
  readonly upTo: Position;
}

/** The dependencies of {@link Batches}. */
export interface BatchesParts {
  readonly log: Pick<EventStore, "head" | "readStream">;
  /** Opens what projections need of entries; keeps their number and order. Retried after a failure. */
  readonly prepare: (entries: readonly LogEntry[]) => Promise<readonly LogEntry[]>;
  readonly purges: Purges;
  readonly erasures: Pick<Erasures, "load">;
  readonly quarantined: QuarantinedStreams;
  readonly minutes: Minutes;
  readonly types: EventTypes;
  readonly incidents: Incidents;
  readonly oldStatistics: OldStatistics;
  readonly persist: <Result>(action: () => Promise<Result>) => Promise<Result>;
}

/** Makes batches of the changes of entries. Skips erased tenants, and quarantines streams with unreadable entries. */
export class Batches {
  readonly #parts: BatchesParts;
  readonly #erased: ErasedTenants;

  constructor(parts: BatchesParts) {
    this.#parts = parts;
    this.#erased = new ErasedTenants(parts.log);
  }

  /** The batches of stretches: several where later changes depend on applied ones. Apply each before the next. */
  async *of(stretches: Iterable<Stretch> | AsyncIterable<Stretch>): AsyncGenerator<Batch, void> {
    const {
      quarantined, purges, erasures, minutes, types, incidents, oldStatistics, prepare, persist,
    } = this.#parts;
    let changes: PositionedChanges[] = [];
    let last: Position | undefined;
    for await (const { entries, upTo } of stretches) {
      await persist(() => incidents.prepare(entries));
      for (const entry of await persist(async () => prepare(await this.#erased.without(entries)))) {
        const { position } = entry;
        const before = purges.concerns(entry) ? await persist(() => this.#changesBefore(entry)) : [];
        const own = before === null || quarantined.has(entry.stream) ? [] : changesOf(entry);
        const changed = "unreadable" in own ? await persist(() => quarantined.add(own)) : own;
        const counts = changed === own && own.length > 0;
        const typed = counts && types.concerns(entry) ? await persist(() => types.changesOf(entry)) : [];
        if (before?.length) incidents.begunAgain(entry);
        const further = counts && incidents.concerns(entry) ? await persist(() => incidents.changesOf(entry)) : [];
        const all = typed.length + further.length > 0 ? [...changed, ...typed, ...further] : changed;
        const whole = before?.length && all.length > 0 ? [...before, ...all] : all;
        const minute = minutes.begunBy(entry);
        oldStatistics.look(entry, minute !== undefined);
        if (minute || whole.length > 0) changes.push({ position, changes: minute ? [minute, ...whole] : whole });
        const purgeId = purgeIdIn(entry);
        if (purgeId !== undefined || entry.type === "TenantErased") {
          yield { changes, upTo: position };
          incidents.applied();
          changes = [];
          await persist(() => (purgeId === undefined ? erasures.load() : purges.look(purgeId)));
        }
      }
      last = upTo;
    }
    if (last === undefined) return;
    yield { changes, upTo: last };
    incidents.applied();
  }

  async #changesBefore(entry: LogEntry): Promise<readonly Change[] | null> {
    const eventId = await this.#eventIdOf(entry);
    return eventId === undefined ? [] : this.#parts.purges.changesBefore(entry, eventId);
  }

  async #eventIdOf(entry: LogEntry): Promise<string | undefined> {
    if (entry.unreadable === undefined) return eventIdIn(entry);
    if (categoryOf(entry.stream) !== "event") return undefined;
    const [first] = await this.#parts.log.readStream(entry.stream, { limit: 1 });
    return first && eventIdIn(first);
  }
}

function purgeIdIn(entry: LogEntry): string | undefined {
  if (entry.unreadable !== undefined || !["EventsPurged", "PurgeCompleted"].includes(entry.type)) return undefined;
  return (entry.data as { readonly purgeId?: string } | null)?.purgeId;
}
