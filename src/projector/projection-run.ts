import pLimit from "p-limit";
import { collections, fingerprint } from "../../projections/index.ts";
import { withDeliveries } from "../features/messages/facts.ts";
import { Pause } from "../kernel/ports/clock.ts";
import {
  logStart, type EventLog, type EventStore, type Position, type Subscription,
} from "../kernel/ports/event-store.ts";
import { ReadModelsTakenOver, type ReadModels, type ReadModelWriter } from "../kernel/ports/read-models.ts";
import type { Instruments } from "../kernel/ports/telemetry.ts";
import { Batches, type Batch, type BatchesParts, type Stretch } from "./batches.ts";
import { OrphanedEntries } from "./entries.ts";
import { Erasures } from "./erasures.ts";
import { EventTypes } from "./event-types.ts";
import { Incidents } from "./incidents.ts";
import { LateStreams } from "./late-streams.ts";
import { Minutes, OldStatistics } from "./minutes.ts";
import { withDeliveriesLeft } from "./purged-deliveries.ts";
import { Purges } from "./purges.ts";
import { QuarantinedStreams } from "./quarantined-streams.ts";

const readEntries = 500;
/** Reads of a batch during a catch-up: the larger the batch, the more changes fold into one. */
const readsOfBatch = 16;
/** A smaller batch waits for more entries, unless a caller waits for it. */
const smallBatch = 1_000;
const firstPauseMs = 50;
const longestPauseMs = 5_000;

/** The dependencies of a run. */
export interface ProjectionParts extends Instruments {
  readonly log: EventLog & Pick<EventStore, "readStream" | "deleteStream">;
  readonly readModels: ReadModelWriter & Pick<ReadModels, "find" | "get">;
  readonly prepare: BatchesParts["prepare"];
  /** How long a small batch waits for more entries. {@link ProjectionRun.flush} ends the delay. */
  readonly batchDelayMs: number;
  /** Whether the log may keep a part of a deleted stream, see {@link OrphanedEntries}. */
  readonly leavesOrphans: boolean;
}

/** The position that the read models cover, and the callers that wait for a later one. */
export class Progress {
  #applied: Position = logStart;
  #wanted: Position = logStart;
  readonly #waiters = new Set<{ readonly position: Position; readonly reached: () => void }>();

  get applied(): Position {
    return this.#applied;
  }

  get isAwaited(): boolean {
    return this.#wanted > this.#applied;
  }

  want(position: Position): void {
    if (position > this.#wanted) this.#wanted = position;
  }

  /** `position` falls if the read models were dropped. */
  reach(position: Position): void {
    this.#applied = position;
    for (const waiter of this.#waiters) {
      if (waiter.position > position) continue;
      this.#waiters.delete(waiter);
      waiter.reached();
    }
  }

  covered(position: Position): Promise<void> {
    if (position <= this.#applied) return Promise.resolve();
    return new Promise((reached) => this.#waiters.add({ position, reached }));
  }
}

/** Projects the log from the checkpoint until {@link end} or a takeover; other failures are retried. */
export class ProjectionRun {
  readonly #parts: ProjectionParts;
  readonly #progress: Progress;
  readonly #quarantined: QuarantinedStreams;
  readonly #purges: Purges;
  readonly #erasures: Erasures;
  readonly #incidents: Incidents;
  readonly #late: LateStreams;
  readonly #minutes: Minutes;
  readonly #oldStatistics: OldStatistics;
  readonly #batches: Batches;
  readonly #batchDelay: Pause;
  readonly #retry: Pause;
  readonly #ended = Promise.withResolvers<void>();
  /** Nothing more is written but a write under way. */
  #over = false;
  /** Batches, steps of purges and erasures, and steps of late streams run one at a time. */
  readonly #exclusively = pLimit(1);
  #latecomers: Promise<void> | undefined;
  #clearing: Promise<void> | undefined;
  /** No query sees the read models yet. */
  #rebuilding = false;

  constructor(parts: ProjectionParts, progress: Progress) {
    this.#parts = parts;
    this.#progress = progress;
    const quarantined = new QuarantinedStreams(parts);
    const purges = new Purges({ ...parts, isQuarantined: (stream) => quarantined.has(stream) });
    this.#quarantined = quarantined;
    this.#purges = purges;
    const erasures = new Erasures(parts.readModels);
    this.#erasures = erasures;
    const types = new EventTypes(parts.readModels);
    const incidents = new Incidents(parts.readModels);
    this.#incidents = incidents;
    this.#late = new LateStreams({ ...parts, quarantined, purges, types });
    const minutes = new Minutes(parts.readModels);
    this.#minutes = minutes;
    const oldStatistics = new OldStatistics(parts.readModels);
    this.#oldStatistics = oldStatistics;
    const persist = <Result>(action: () => Promise<Result>) => this.#persist(action);
    this.#batches = new Batches({
      ...parts, purges, erasures, quarantined, minutes, types, incidents, oldStatistics, persist,
    });
    this.#batchDelay = new Pause(parts.clock);
    this.#retry = new Pause(parts.clock);
  }

  /** Resolves when the run is over and nothing is being written. */
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

  /** Builds the read models from the log while nobody queries them. Resolves when they cover it. */
  async rebuild(): Promise<void> {
    await this.#persist(() => this.#reset());
    await this.#catchUp();
    await this.#publish({ alone: true });
  }

  flush(): void {
    this.#batchDelay.end();
  }

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
      this.#take({ entries: withDeliveries(entries), upTo }).catch(untilOver));
  }

  /** Publishes the read models once they hide purged events, as the published ones do. */
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
      await this.#incidents.load(checkpoint);
      await this.#oldStatistics.load();
      return this.#purges.load();
    }
    logger.warn({ checkpoint, upTo: end }, `the read models ${flaw}: building them again`);
    return this.#reset();
  }

  /** The reason to build the stored read models again, if any. */
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
    await this.#incidents.load(logStart);
    await this.#quarantined.load();
  }

  async #catchUp(): Promise<void> {
    for (let before: Position | undefined; before !== this.#progress.applied;) {
      before = this.#progress.applied;
      await this.#exclusively(() => this.#project(this.#stretches()));
    }
  }

  async *#stretches(): AsyncGenerator<Stretch> {
    const { log, readModels, leavesOrphans } = this.#parts;
    const orphans = leavesOrphans ? new OrphanedEntries(readModels) : null;
    let after = this.#progress.applied;
    for (let read = 0; read < readsOfBatch; read += 1) {
      const { entries, upTo } = await this.#persist(() => log.readLog(after, readEntries));
      if (upTo <= after) return;
      const facts = await this.#persist(() => withDeliveriesLeft(log, entries));
      yield { entries: orphans ? await this.#persist(() => orphans.without(facts)) : facts, upTo };
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
      // A rebuild finishes each purge here, before newer documents make its search longer.
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

  async #projectLate(): Promise<void> {
    const step = () => this.#exclusively(() => this.#persist(() => this.#late.step(this.#progress.applied)));
    try {
      while (await step());
    } catch (error) {
      untilOver(error);
    }
    this.#latecomers = undefined;
    this.#carryOn();
  }

  /** Runs purges and erasures to their end. They search events only once no stream is late. */
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

  get #nextToClear(): Purges | Erasures | OldStatistics | undefined {
    return [this.#purges, this.#erasures, this.#oldStatistics].find(({ pending }) => pending);
  }

  async #clear(): Promise<void> {
    await this.#nextToClear?.step();
  }

  async #clearAll(): Promise<void> {
    while (this.#isToClear) await this.#exclusively(() => this.#persist(() => this.#clear()));
  }

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

/** The run ended before its work was done. */
class Over extends Error {}

function untilOver(error: unknown): void {
  if (!(error instanceof Over || error instanceof ReadModelsTakenOver)) throw error;
}
