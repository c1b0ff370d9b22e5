import { timestamp, type Timestamp } from "../domain/time.ts";
import type { Collection, Document, ReadModels } from "../ports/read-models.ts";
import type { Instruments } from "../ports/telemetry.ts";
import { LogThrottle } from "../tools/log-throttle.ts";

const atOnce = 500;

/** How documents of a collection are recorded when they are due. */
export interface DueWork<Due extends Document> {
  readonly collection: Collection<Due>;
  /** The field with the time that makes a document due. */
  readonly field: string;
  readonly record: (document: Due) => Promise<void>;
  /** What the log names of a document that was not recorded. */
  readonly about: (document: Due) => object;
  readonly failed: string;
  readonly stillFails: string;
}

/** Records due documents one after another; one that fails is left to the next run and does not hold up the others. */
export class DueDocuments<Due extends Document> {
  readonly #parts;
  readonly #work: DueWork<Due>;
  readonly #logThrottle: LogThrottle;

  constructor(parts: Instruments & { readonly readModels: Pick<ReadModels, "find"> }, work: DueWork<Due>) {
    this.#parts = parts;
    this.#work = work;
    this.#logThrottle = new LogThrottle(parts.clock);
  }

  /** Records the documents that are due at a time, the earliest first, until `isOver`. Throws ReadModelsUnavailable. */
  async run(until: Timestamp, isOver: () => boolean): Promise<void> {
    const { collection: { name: collection }, field } = this.#work;
    const due = await this.#parts.readModels.find({
      collection, range: { field, from: timestamp(0), to: until }, order: { field, descending: false }, limit: atOnce,
    });
    for (const document of due as readonly Due[]) {
      if (isOver()) return;
      await this.#tryToRecord(document);
    }
  }

  async #tryToRecord(document: Due): Promise<void> {
    const { logger, metrics } = this.#parts;
    const { record, about, failed, stillFails } = this.#work;
    try {
      await record(document);
    } catch (error) {
      metrics.anomaly("sweeper");
      this.#logThrottle.tell(
        String(error),
        () => logger.warn({ err: error, ...about(document) }, failed),
        (reason, times) => logger.warn({ reason, times }, stillFails),
      );
    }
  }
}
