import type { RecordedEvent } from "../../src/kernel/ports/event-store.ts";
import { hold } from "./broken.ts";
import type { EventRecord } from "./records.ts";

/** A replay in the background, as the log tells it. */
interface ReplayRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly matched: number;
  /** The events that it put to work, by the id of the replayed event, each with the event that goes out. */
  readonly done: Map<string, EventRecord>;
  settled: boolean;
}

/** The replays in the background: each puts an event to work once, and counts it. */
export class Replays {
  /** By the id of the entry that ordered them, which is the cause of their facts. */
  readonly #byOrder = new Map<string, ReplayRecord>();

  /** Replays that have not counted everything. */
  unsettled(): readonly { readonly id: string; readonly tenantId: string }[] {
    return [...this.#byOrder.values()].filter(({ settled }) => !settled);
  }

  /** A fact of a replay's own stream. */
  committed({ type, id: entryId, data }: RecordedEvent): void {
    const { replayId: id, tenantId, matched, done, skipped } = data as {
      readonly replayId: string; readonly tenantId: string; readonly matched: number; readonly done: number;
      readonly skipped: number;
    };
    if (type === "ReplayJobOrdered") {
      this.#byOrder.set(entryId, { id, tenantId, matched, done: new Map(), settled: false });
      return;
    }
    const replay = [...this.#byOrder.values()].find((one) => one.id === id);
    hold(replay !== undefined && !replay.settled, "a settled replay counts all that matched", () => `${type} of ${id}`);
    const what = () => `${type} of ${id}: ${done} done, ${skipped} skipped, ${replay.done.size} of ${replay.matched}`;
    hold(done <= replay.done.size, "a replay reports no more than it put to work", what);
    if (type !== "ReplayJobFinished") return;
    hold(done + skipped === replay.matched, "a settled replay counts all that matched", what);
    replay.settled = true;
  }

  /** A replay made a new event; `from`: its source, where that is known. */
  made(event: EventRecord, source: string, from: EventRecord | undefined, by: Pick<RecordedEvent, "metadata">): void {
    const isSame = from === undefined || from.payload === event.payload;
    hold(isSame, "a replay sends the bytes of its source", () => `${event.id} from ${source}`);
    this.putToWork(event, source, by);
  }

  /** An event was put to work; `source`: the event that a replay takes for that, if a replay did it. */
  putToWork(event: EventRecord, source: string, { metadata: { causationId } }: Pick<RecordedEvent, "metadata">): void {
    const replay = this.#byOrder.get(causationId ?? "");
    if (!replay) return;
    const before = replay.done.get(source);
    // A purged one is forgotten.
    const isFirst = before === undefined || before.purgedAt !== null;
    hold(isFirst, "a replay puts each event to work once", () => `${source} by ${replay.id}`);
    replay.done.set(source, event);
  }
}
