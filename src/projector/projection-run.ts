import pLimit from "p-limit";
import { collections, fingerprint } from "../../projections/index.ts";
import { Pause } from "../kernel/ports/clock.ts";
import {
  logStart, type EventLog, type EventStore, type Position, type Subscription,
} from "../kernel/ports/event-store.ts";
import { ReadModelsTakenOver, type ReadModels, type ReadModelWriter } from "../kernel/ports/read-models.ts";
import type { Instruments } from "../kernel/ports/telemetry.ts";
import { Batches, type Batch, type BatchesParts, type Stretch } from "./batches.ts";
import { Erasures } from "./erasures.ts";
import { EventTypes } from "./event-types.ts";
import { LateStreams } from "./late-streams.ts";
import { Minutes } from "./minutes.ts";
import { OldStatistics } from "./old-statistics.ts";
import { OrphanedEntries } from "./orphaned-entries.ts";
import type { Progress } from "./progress.ts";
import { Purges } from "./purges.ts";
import { QuarantinedStreams } from "./quarantined-streams.ts";

/** Entries read at once when behind; only their changes are kept when the next are read. */
const readEntries = 500;
/** Reads that make a batch when behind: the larger it is, the more of it folds into one. */
const readsOfBatch = 16;
/** A batch smaller than this waits a moment for more, unless a caller waits for it. */
const smallBatch = 1_000;
const firstPauseMs = 50;
const longestPauseMs = 5_000;

/** The engines and settings of a projection. */
export interface ProjectionParts extends Instruments {
  readonly log: EventLog & Pick<EventStore, "readStream">;
  /** Queries are answered from the writer's own view. */
  readonly readModels: ReadModelWriter & Pick<ReadModels, "find" | "get">;
  readonly prepare: BatchesParts["prepare"];
  /**
   * How long a small batch waits for more, ms: an event accepted, attempted and delivered within this time costs one
   * write. A caller that waits for the read models ends the delay, see {@link ProjectionRun.flush}.
   */
  readonly batchDelayMs: number;
  /** Whether the log may have lost a part of a deleted stream, see {@link OrphanedEntries}. */
  readonly leavesOrphans: boolean;
}

/**
 * One run of writing the read models, from the stored checkpoint or from the log's start. It ends when told to, or when
 * another writer takes over; any other failure is retried. Use each once.
 */
export class ProjectionRun {
  readonly #parts: ProjectionParts;
  readonly #progress: Progress;
  readonly #quarantined: QuarantinedStreams;
  readonly #purges: Purges;
  readonly #erasures: Erasures;
  readonly #late: LateStreams;
  readonly #minutes: Minutes;
  readonly #oldStatistics: OldStatistics;
  readonly #batches: Batches;
  readonly #batchDelay: Pause;
  readonly #retry: Pause;
  readonly #ended = Promise.withResolvers<void>();
  /** Nothing more is written, except for a write under way. */
  #over = false;
  /** One task runs at a time: a batch of the log, a step of purges and erasures, or one of the late streams. */
  readonly #exclusively = pLimit(1);
  #latecomers: Promise<void> | undefined;
  #clearing: Promise<void> | undefined;
  /** The read models are built from the log's start, and no query is answered from them yet. */
  #rebuilding = false;

  constructor(parts: ProjectionParts, progress: Progress) {
    this.#parts = parts;
    this.#progress = progress;
    const quarantined = new QuarantinedStreams(parts);
    const purges = new Purges({ ...parts, isQuarantined: (stream) => quarantined.has(stream) });
    this.#quarantined = quarantined;
    this.#purges = purges;
    const erasures = new Erasures(parts);
    this.#erasures = erasures;
    const types = new EventTypes(parts.readModels);
    this.#late = new LateStreams({ ...parts, quarantined, purges, types });
    const minutes = new Minutes(parts.readModels);
    this.#minutes = minutes;
    const oldStatistics = new OldStatistics(parts);
    this.#oldStatistics = oldStatistics;
    const persist = <Result>(action: () => Promise<Result>) => this.#persist(action);
    this.#batches = new Batches({ ...parts, purges, erasures, quarantined, minutes, types, oldStatistics, persist });
    this.#batchDelay = new Pause(parts.clock);
    this.#retry = new Pause(parts.clock);
  }

  /**
   * Projects the entries of the log, also those to come; resolves when the run is over and nothing is written any more.
   */
  async run(): Promise<void> {
    const subscription = await this.#caughtUp().catch(untilOver);
    const built = this.#rebuilding;
    if (subscription) await this.#publish().catch(untilOver);
    if (built && !this.#over) {
      this.#parts.logger.info({ upTo: this.#progress.applied }, "the read models are built: lists answer from them");
    }
    await this.#ended.promise;
    await subscription?.stop();
    await this.#latecomers;
    await this.#clearing;
  }

  /** Drops the read models and builds them from the log, while nobody queries them; resolves when they cover it. */
  async rebuild(): Promise<void> {
    await this.#persist(() => this.#reset());
    await this.#catchUp();
    await this.#publish({ alone: true });
  }

  /** Ends the batch delay, since a caller waits. */
  flush(): void {
    this.#batchDelay.end();
  }

  /** Begins to end the run, see {@link run}. */
  end(): void {
    this.#over = true;
    this.#batchDelay.end();
    this.#retry.end();
    this.#ended.resolve();
  }

  async #caughtUp(): Promise<Subscription> {
    await this.#persist(() => this.#begin());
    if (!this.#rebuilding) this.#latecomers = this.#projectLate();
    await this.#catchUp();
    return this.#parts.log.subscribe({ after: this.#progress.applied }, (entries, upTo) =>
      this.#take({ entries, upTo }).catch(untilOver));
  }

  /** Publishes the read models once they hide the events that purges took, as the ones published until then do. */
  async #publish(options: { readonly alone?: boolean } = {}): Promise<void> {
    await this.#latecomers;
    while (this.#clearing) await this.#clearing;
    this.#rebuilding = false;
    await this.#persist(() => this.#parts.readModels.publish(options));
  }

  async #begin(): Promise<void> {
    const { log, readModels, logger } = this.#parts;
    const [state, end] = [await readModels.state(), await log.end()];
    if (!state) {
      if (end !== logStart) logger.info({ upTo: end }, "no read models: building them from the log");
      return this.#reset();
    }
    const { checkpoint } = state;
    const flaw = await this.#flawOf(state, end);
    if (flaw === undefined) {
      this.#progress.reach(checkpoint);
      await this.#minutes.load();
      await this.#erasures.load();
      await this.#oldStatistics.load();
      return this.#purges.load();
    }
    logger.warn({ checkpoint, upTo: end }, `the read models ${flaw}: building them again`);
    return this.#reset();
  }

  /** Why the stored read models must be built again, if they must. */
  async #flawOf(
    { checkpoint, fingerprint: built }: { readonly checkpoint: Position; readonly fingerprint: string }, end: Position,
  ): Promise<string | undefined> {
    if (built !== fingerprint) return "are of another version";
    if (checkpoint > end) return "are of a log that went further";
    const isOutOfOrder = await this.#late.canReadAny(await this.#quarantined.load());
    return isOutOfOrder ? "lack facts of a newer release that can be read now" : undefined;
  }

  async #reset(): Promise<void> {
    await this.#parts.readModels.reset(collections, fingerprint);
    this.#rebuilding = true;
    this.#progress.reach(logStart);
    await this.#minutes.load();
    await this.#oldStatistics.load();
    await this.#quarantined.load();
  }

  async #catchUp(): Promise<void> {
    for (let before: Position | undefined; before !== this.#progress.applied;) {
      before = this.#progress.applied;
      await this.#exclusively(() => this.#project(this.#stretches()));
    }
  }

  /** The next entries of the log, as many as make a batch. */
  async *#stretches(): AsyncGenerator<Stretch> {
    const { log, readModels, leavesOrphans } = this.#parts;
    const orphans = leavesOrphans ? new OrphanedEntries(readModels) : null;
    let after = this.#progress.applied;
    for (let read = 0; read < readsOfBatch; read += 1) {
      const { entries, upTo } = await this.#persist(() => log.readLog(after, readEntries));
      if (upTo <= after) return;
      yield { entries: orphans ? await this.#persist(() => orphans.without(entries)) : entries, upTo };
      after = upTo;
    }
  }

  async #take(stretch: Stretch): Promise<void> {
    if (stretch.entries.length < smallBatch && !this.#progress.isAwaited && !this.#over) {
      await this.#batchDelay.wait(this.#parts.batchDelayMs);
    }
    await this.#exclusively(() => this.#project([stretch]));
  }

  async #project(stretches: Iterable<Stretch> | AsyncIterable<Stretch>): Promise<void> {
    for await (const batch of this.#batches.of(stretches)) {
      await this.#apply(batch);
      // In a rebuild each purge finishes here: nothing newer is applied by then that it would have to look through.
      while (this.#rebuilding && this.#isToClear) await this.#persist(() => this.#clear());
    }
    this.#carryOn();
  }

  async #apply({ changes, upTo }: Batch): Promise<void> {
    if (upTo <= this.#progress.applied) return;
    await this.#persist(() => this.#parts.readModels.apply(changes, upTo));
    this.#purges.applied();
    this.#progress.reach(upTo);
  }

  /** Projects the streams that waited for this release. */
  async #projectLate(): Promise<void> {
    // Nothing else is applied until it is known whether a step was: a batch would pass over streams that are back.
    const step = () => this.#exclusively(() => this.#persist(() => this.#late.step(this.#progress.applied)));
    try {
      while (await step());
    } catch (error) {
      untilOver(error);
    }
    this.#latecomers = undefined;
    this.#carryOn();
  }

  /** Carries purges and erasures on until none is left: they look for events once no stream is late. */
  #carryOn(): void {
    if (this.#over || this.#clearing || this.#latecomers || !this.#isToClear) return;
    this.#clearing = this.#clearAll()
      .catch(untilOver)
      .finally(() => {
        this.#clearing = undefined;
        this.#carryOn();
      });
  }

  get #isToClear(): boolean {
    return this.#nextToClear !== undefined;
  }

  /** Purges come first, then erasures, then old statistics. */
  get #nextToClear(): Purges | Erasures | OldStatistics | undefined {
    return [this.#purges, this.#erasures, this.#oldStatistics].find(({ pending }) => pending);
  }

  /** A small part of the next one. */
  async #clear(): Promise<void> {
    await this.#nextToClear?.step();
  }

  async #clearAll(): Promise<void> {
    while (this.#isToClear) await this.#exclusively(() => this.#persist(() => this.#clear()));
  }

  /** Repeats the action until it succeeds. Throws at the end of the run: Over, or ReadModelsTakenOver. */
  async #persist<Result>(action: () => Promise<Result>): Promise<Result> {
    const { logger, metrics } = this.#parts;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      if (this.#over) throw new Over();
      try {
        return await action();
      } catch (error) {
        metrics.anomaly("projection");
        if (error instanceof ReadModelsTakenOver) {
          logger.warn({ err: error }, "another has written the read models meanwhile: projecting begins anew");
          this.end();
          throw error;
        }
        logger.warn({ err: error, pauseMs }, "projecting failed: the same is tried again");
      }
      await this.#retry.wait(pauseMs);
    }
  }
}

/** The run was ended before its work was done. */
class Over extends Error {}

function untilOver(error: unknown): void {
  if (!(error instanceof Over || error instanceof ReadModelsTakenOver)) throw error;
}
