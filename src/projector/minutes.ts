import { minuteOf, moments, type MomentDocument } from "../../projections/moments/moments.ts";
import { create } from "../../projections/projection.ts";
import type { LogEntry } from "../kernel/ports/event-store.ts";
import type { Change, ReadModels } from "../kernel/ports/read-models.ts";

/** Later than the last moment of a minute, in the order of texts. */
const afterMinute = "\uffff";

/** Finds the entries that begin a minute: the greatest time of the log so far moves into it. */
export class Minutes {
  readonly #readModels: Pick<ReadModels, "find">;
  /** Every time of the newest minute with an entry, and of those before it, is less than this. */
  #end = "";

  /** `readModels`: the writer's own view. */
  constructor(readModels: Pick<ReadModels, "find">) {
    this.#readModels = readModels;
  }

  /** Goes on where the read models end. */
  async load(): Promise<void> {
    const order = { field: moments.key, descending: true };
    const [newest] = await this.#readModels.find({ collection: moments.name, order, limit: 1 });
    this.#end = newest ? endOf((newest as MomentDocument).minute) : "";
  }

  /** The change that notes where a minute begins, if it begins with this entry. Give it the entries in order. */
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
