import { set } from "../../projections/projection.ts";
import { isOfDueIndex, quarantine, type QuarantineDocument } from "../../projections/quarantine/quarantine.ts";
import { withDeliveries } from "../features/messages/facts.ts";
import type { EventStore, LogEntry, Position } from "../kernel/ports/event-store.ts";
import type { Change, ReadModels, ReadModelWriter } from "../kernel/ports/read-models.ts";
import type { Instruments } from "../kernel/ports/telemetry.ts";
import { pagesOf } from "../kernel/read-models/scans.ts";
import type { BatchesParts } from "./batches.ts";
import { changesOf, eventIdIn } from "./entries.ts";
import type { EventTypes } from "./event-types.ts";
import type { Purges } from "./purges.ts";
import type { QuarantinedStreams } from "./quarantined-streams.ts";

const streamsOfStep = 50;
const entriesOfStep = 20;
const progressMs = 10_000;

interface LateStreamsParts extends Pick<Instruments, "clock" | "logger"> {
  readonly log: Pick<EventStore, "readStream">;
  readonly readModels: Pick<ReadModels, "find"> & Pick<ReadModelWriter, "amend">;
  readonly prepare: BatchesParts["prepare"];
  readonly quarantined: QuarantinedStreams;
  readonly purges: Purges;
  readonly types: EventTypes;
}

/** The changes for one stream. */
interface Step {
  readonly changes: readonly Change[];
  readonly isBack: boolean;
  readonly isCut: boolean;
}

const nothing: Step = { changes: [], isBack: false, isCut: false };

/**
 * Projects streams that waited for a release that can read them, up to the checkpoint. The mark of a stream is written
 * with its changes: a crash loses nothing, and the due index lacks its event meanwhile.
 */
export class LateStreams {
  readonly #parts: LateStreamsParts;
  /** Types and reasons of entries that this release cannot read either. */
  readonly #stillNewer = new Set<string>();
  #pages: AsyncGenerator<readonly QuarantineDocument[], void> | undefined;
  /** Streams of the last step with more entries, or all of them if it failed. */
  #again: readonly string[] = [];
  #back = 0;
  #toldAt: number;

  constructor(parts: LateStreamsParts) {
    this.#parts = parts;
    this.#toldAt = parts.clock.monotonic();
  }

  /** Whether the first unprojected entry of one of the streams is readable now. */
  async canReadAny(marks: readonly QuarantineDocument[]): Promise<boolean> {
    for (const mark of marks) {
      if (this.#stillNewer.has(keyOf(mark))) continue;
      const [entry] = await this.#read(mark, 1);
      if (entry && entry.unreadable === undefined) return true;
      this.#remember(mark, entry);
    }
    return false;
  }

  /** Does a part of the work, while nothing else writes; false when none is left. Safe to call after it throws. */
  async step(upTo: Position): Promise<boolean> {
    const { readModels, purges } = this.#parts;
    const marks = await this.#next();
    if (!marks) {
      if (this.#back > 0) this.#tell("streams that waited for this release are projected");
      return false;
    }
    const waiting = marks.filter((mark) => !this.#stillNewer.has(keyOf(mark)));
    this.#again = waiting.map(({ stream }) => stream);
    try {
      const steps = await Promise.all(waiting.map(async (mark) => ({ mark, ...(await this.#stepOf(mark, upTo)) })));
      const changes = steps.flatMap((step) => step.changes);
      if (changes.length > 0) await readModels.amend(changes);
      for (const { mark, isBack } of steps) if (isBack) this.#isBack(mark.stream);
      this.#again = steps.flatMap(({ mark, isCut }) => (isCut ? [mark.stream] : []));
    } finally {
      purges.applied();
    }
    this.#tellProgress();
    return true;
  }

  /** The next marks; first those of streams under way. */
  async #next(): Promise<readonly QuarantineDocument[] | undefined> {
    if (this.#again.length > 0) return this.#find(this.#again);
    this.#pages ??= pagesOf(this.#parts.readModels, quarantine, { where: { newer: true }, size: streamsOfStep });
    try {
      const { value } = await this.#pages.next();
      return value ?? undefined;
    } catch (error) {
      this.#pages = undefined;
      throw error;
    }
  }

  async #find(streams: readonly string[]): Promise<readonly QuarantineDocument[]> {
    const found = await this.#parts.readModels.find({
      collection: quarantine.name,
      anyOf: { field: quarantine.key, values: streams },
      order: { field: quarantine.key, descending: false },
      limit: streams.length,
    });
    const marks = found as readonly QuarantineDocument[];
    const marked = new Set(marks.map(({ stream }) => stream));
    for (const stream of streams) if (!marked.has(stream)) this.#isBack(stream);
    return marks.filter(({ newer }) => newer);
  }

  #isBack(stream: string): void {
    this.#parts.quarantined.forget(stream);
    this.#back += 1;
  }

  async #stepOf(mark: QuarantineDocument, upTo: Position): Promise<Step> {
    const { quarantined, types } = this.#parts;
    const { stream } = mark;
    const read = await this.#read(mark, entriesOfStep);
    const entries = read.filter(({ position }) => position <= upTo);
    const changes: Change[] = [];
    for (const entry of entries) {
      const own = changesOf(entry);
      if ("unreadable" in own) {
        if (this.#remember(mark, own)) return nothing;
        return { changes: [...changes, ...(await quarantined.add(own))], isBack: false, isCut: false };
      }
      changes.push(...(await this.#changesBefore(entry)), ...own.filter((change) => !isOfDueIndex(change)));
      if (types.concerns(entry)) changes.push(...(await types.changesOf(entry)));
    }
    const last = entries.at(-1);
    if (last && entries.length === entriesOfStep) {
      const next = set(quarantine, stream, { revision: last.revision + 1 });
      return { changes: [...changes, next], isBack: false, isCut: true };
    }
    const back = await quarantined.back(stream, ({ position }) => position <= upTo);
    return { changes: [...changes, ...back], isBack: true, isCut: false };
  }

  /** Whether this release cannot read the entry either; remembers its type and reason. */
  #remember(mark: QuarantineDocument, entry: LogEntry | undefined): boolean {
    if (entry?.unreadable === undefined || !entry.newer) return false;
    const { revision, type, unreadable: reason } = entry;
    if (revision !== mark.revision || keyOf({ type, reason }) !== keyOf(mark)) return false;
    this.#stillNewer.add(keyOf(mark));
    return true;
  }

  async #read({ stream, revision }: QuarantineDocument, limit: number): Promise<readonly LogEntry[]> {
    return this.#parts.prepare(withDeliveries(await this.#parts.log.readStream(stream, { from: revision, limit })));
  }

  /** Purges under way take no event of a waiting stream, but its event may have the id of a purged one. */
  async #changesBefore(entry: LogEntry): Promise<readonly Change[]> {
    const { purges } = this.#parts;
    const eventId = eventIdIn(entry);
    if (entry.type !== "EventAccepted" || eventId === undefined || !purges.concerns(entry)) return [];
    return (await purges.changesBefore(entry, eventId)) ?? [];
  }

  #tellProgress(): void {
    if (this.#back === 0 || this.#parts.clock.monotonic() - this.#toldAt < progressMs) return;
    this.#tell("projecting streams that waited for this release");
  }

  #tell(message: string): void {
    this.#toldAt = this.#parts.clock.monotonic();
    this.#parts.logger.info({ streams: this.#back }, message);
  }
}

function keyOf({ type, reason }: Pick<QuarantineDocument, "type" | "reason">): string {
  return `${type}: ${reason}`;
}
