import { minuteOf, moments, type MomentDocument } from "../../projections/moments/moments.ts";
import { create, remove } from "../../projections/projection.ts";
import { minuteNumber, statistics, statisticsLevels } from "../../projections/statistics/statistics.ts";
import { timestamp } from "../kernel/domain/time.ts";
import type { LogEntry } from "../kernel/ports/event-store.ts";
import type { Change, ReadModels, ReadModelWriter } from "../kernel/ports/read-models.ts";

const afterMinute = "\uffff";
const slice = 500;
const minuteMs = 60_000;

/** Finds the entries that begin a minute: the greatest time of the log so far moves into it. */
export class Minutes {
  readonly #readModels: Pick<ReadModels, "find">;
  #end = "";

  constructor(readModels: Pick<ReadModels, "find">) {
    this.#readModels = readModels;
  }

  async load(): Promise<void> {
    const order = { field: moments.key, descending: true };
    const [newest] = await this.#readModels.find({ collection: moments.name, order, limit: 1 });
    this.#end = newest ? endOf((newest as MomentDocument).minute) : "";
  }

  /** The change that records the begin of a minute, if the entry begins one. Call it in the order of the log. */
  begunBy(entry: LogEntry): Change | undefined {
    if (entry.unreadable !== undefined) return undefined;
    const { position, metadata: { at } } = entry;
    if (at < this.#end) return undefined;
    const minute = minuteOf(at);
    this.#end = endOf(minute);
    return create(moments, { minute, at, position });
  }
}

function endOf(minute: string): string {
  return `${minute}${afterMinute}`;
}

/** Removes expired statistics by the greatest time in the log, so that a rebuild removes the same. */
export class OldStatistics {
  readonly #readModels: Pick<ReadModels, "find"> & Pick<ReadModelWriter, "amend">;
  #minute = 0;
  /** Facts before this time add to rows that have expired. */
  #kept = "";
  #pending = false;

  constructor(readModels: Pick<ReadModels, "find"> & Pick<ReadModelWriter, "amend">) {
    this.#readModels = readModels;
  }

  async load(): Promise<void> {
    const order = { field: moments.key, descending: true };
    const [newest] = await this.#readModels.find({ collection: moments.name, order, limit: 1 });
    this.#minute = 0;
    if (newest) this.#begin((newest as MomentDocument).at);
  }

  /** Call it in the order of the log. `beginsMinute`: the entry's time is in a later minute than all before. */
  look(entry: LogEntry, beginsMinute: boolean): void {
    if (entry.unreadable !== undefined) return;
    if (beginsMinute) this.#begin(entry.metadata.at);
    else if (entry.metadata.at < this.#kept) this.#pending = true;
  }

  get pending(): boolean {
    return this.#pending;
  }

  /** Removes a few rows. May be called again after it throws. */
  async step(): Promise<void> {
    const found = await this.#readModels.find({
      collection: statistics.name,
      range: { field: "until", to: this.#minute },
      order: { field: "until", descending: false },
      limit: slice,
    });
    if (found.length > 0) await this.#readModels.amend(found.map(({ key }) => remove(statistics, key as string)));
    this.#pending = found.length === slice;
  }

  #begin(at: string): void {
    this.#minute = minuteNumber(at);
    this.#kept = timestamp(Math.max(0, this.#minute - statisticsLevels.minute.keptMinutes) * minuteMs);
    this.#pending = true;
  }
}
