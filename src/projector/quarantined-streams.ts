import {
  isOfDueIndex, quarantine, quarantineStream, takeBack, type QuarantineDocument,
} from "../../projections/quarantine/quarantine.ts";
import { withDeliveries } from "../features/messages/facts.ts";
import { categoryOf } from "../kernel/domain/streams.ts";
import { readPages } from "../kernel/log/long-reads.ts";
import type { EventStore, LogEntry, UnreadableEntry } from "../kernel/ports/event-store.ts";
import type { Change, ReadModels } from "../kernel/ports/read-models.ts";
import type { Instruments } from "../kernel/ports/telemetry.ts";
import { pagesOf } from "../kernel/read-models/scans.ts";
import { LogThrottle } from "../kernel/tools/log-throttle.ts";
import { changesOf } from "./entries.ts";

const atOnce = 500;
/** Categories whose first fact creates documents that other streams change. */
const changedByOthers: readonly string[] = ["destination", "apiKey", "invite"];

interface QuarantinedStreamsParts extends Instruments {
  readonly log: Pick<EventStore, "readStream">;
  readonly readModels: Pick<ReadModels, "find">;
}

/** The streams that are not projected: for good after a damaged entry, or until a release can read a newer one. */
export class QuarantinedStreams {
  readonly #parts: QuarantinedStreamsParts;
  readonly #logThrottle: LogThrottle;
  readonly #streams = new Set<string>();

  constructor(parts: QuarantinedStreamsParts) {
    this.#parts = parts;
    this.#logThrottle = new LogThrottle(parts.clock);
  }

  /** Reads the stored streams. Resolves with the few that wait and cannot be projected late. */
  async load(): Promise<readonly QuarantineDocument[]> {
    this.#streams.clear();
    const ordered: QuarantineDocument[] = [];
    for await (const page of pagesOf(this.#parts.readModels, quarantine, { size: atOnce })) {
      for (const { stream, newer } of page) {
        this.#streams.add(stream);
        this.#count(newer);
      }
      ordered.push(...page.filter((mark) => mark.newer && needsOrder(mark)));
    }
    return ordered;
  }

  has(stream: string): boolean {
    return this.#streams.has(stream);
  }

  /** Quarantines the entry's stream, and logs that. Resolves with the changes. */
  async add(entry: UnreadableEntry): Promise<readonly Change[]> {
    const { stream, revision, type, unreadable: reason, newer } = entry;
    const due = revision === 0 ? [] : await this.#dueOf(stream, (earlier) => earlier.revision < revision);
    this.#streams.add(stream);
    this.#tell(entry);
    return quarantineStream({ stream, revision, type, reason, newer }, due);
  }

  /** The changes that end a quarantine; then call {@link forget}. `isProjected`: entries in the read models already. */
  async back(stream: string, isProjected: (entry: LogEntry) => boolean): Promise<readonly Change[]> {
    return takeBack(stream, await this.#dueOf(stream, isProjected));
  }

  forget(stream: string): void {
    this.#streams.delete(stream);
  }

  async #dueOf(stream: string, isMeant: (entry: LogEntry) => boolean): Promise<readonly Change[]> {
    const due: Change[] = [];
    if (categoryOf(stream) !== "event") return due;
    await readPages(this.#parts.log, stream, (page) => {
      const meant = page.filter(isMeant);
      for (const entry of withDeliveries(meant)) {
        const changes = changesOf(entry);
        if (!("unreadable" in changes)) due.push(...changes.filter(isOfDueIndex));
      }
      return meant.length === page.length;
    });
    return due;
  }

  #tell(entry: UnreadableEntry): void {
    const { stream, revision, type, position, unreadable, newer } = entry;
    const { logger } = this.#parts;
    const fields = { stream, revision, type, position, unreadable };
    this.#count(newer);
    if (!newer) {
      logger.error(fields, "an entry cannot be read: its stream is quarantined");
      return;
    }
    this.#logThrottle.tell(
      `${type}: ${unreadable}`,
      () => logger.warn(fields, "a fact of a newer release: its stream waits for a process that can read it"),
      (what, streams) => logger.warn({ what, streams }, "more streams wait for a process that can read them"),
    );
  }

  #count(newer: boolean): void {
    this.#parts.metrics.anomaly(newer ? "stream of a newer release" : "stream set aside");
  }
}

/** Whether a late projection would have another effect. A purge takes the events that match at its position. */
function needsOrder({ stream, revision, type }: QuarantineDocument): boolean {
  const category = categoryOf(stream);
  return category === "purges" || type === "MessageAccepted" || (revision === 0 && changedByOthers.includes(category));
}
