import { moments, type MomentDocument } from "../../projections/moments/moments.ts";
import { remove } from "../../projections/projection.ts";
import { minuteNumber, statistics, statisticsLevels } from "../../projections/statistics/statistics.ts";
import { timestamp } from "../kernel/domain/time.ts";
import type { LogEntry } from "../kernel/ports/event-store.ts";
import type { ReadModels, ReadModelWriter } from "../kernel/ports/read-models.ts";

/** Rows removed at once: batches wait no longer than that takes. */
const slice = 500;
const minuteMs = 60_000;

interface OldStatisticsParts {
  readonly readModels: Pick<ReadModels, "find"> & Pick<ReadModelWriter, "amend">;
}

/** Removes the statistics whose time is over, by the greatest time in the log: so a rebuild removes the same. */
export class OldStatistics {
  readonly #readModels: OldStatisticsParts["readModels"];
  /** The minute of the greatest time so far. */
  #minute = 0;
  /** Facts before this time add to rows that are over already. */
  #kept = "";
  #pending = false;

  constructor({ readModels }: OldStatisticsParts) {
    this.#readModels = readModels;
  }

  /** Goes on where the read models end. */
  async load(): Promise<void> {
    const order = { field: moments.key, descending: true };
    const [newest] = await this.#readModels.find({ collection: moments.name, order, limit: 1 });
    this.#minute = 0;
    if (newest) this.#begin((newest as MomentDocument).at);
  }

  /** Call for each entry, in the order of the log. `beginsMinute`: its time is in a later minute than any before. */
  look(entry: LogEntry, beginsMinute: boolean): void {
    if (entry.unreadable !== undefined) return;
    if (beginsMinute) this.#begin(entry.metadata.at);
    else if (entry.metadata.at < this.#kept) this.#pending = true;
  }

  /** Whether {@link step} has anything to do. */
  get pending(): boolean {
    return this.#pending;
  }

  /** Removes a few rows. When it throws, it may be called again. */
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
