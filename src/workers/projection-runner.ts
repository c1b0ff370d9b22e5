import { collections, fingerprint, project } from "../../projections/index.ts";
import { categoryOf } from "../domain/streams.ts";
import type { Clock } from "../ports/clock.ts";
import {
  logStart,
  type EventLog,
  type EventStore,
  type LogEntry,
  type Position,
  type Subscription,
  type UnreadableEntry,
} from "../ports/event-store.ts";
import { Pause } from "../ports/pause.ts";
import {
  ReadModelsTakenOver, type Change, type PositionedChanges, type ReadModels, type ReadModelWriter,
} from "../ports/read-models.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
import { Purges } from "./purges.ts";
import { StreamsAside } from "./streams-aside.ts";

/** Entries read at once when behind: they are let go of, but for what they change, before the next are read. */
const readEntries = 500;
/** Reads that make a batch when behind: the larger it is, the more of it folds into one. */
const readsOfBatch = 16;
/** A batch smaller than this waits a moment for more, unless somebody waits for it. */
const smallBatch = 1_000;
const firstPauseMs = 50;
const longestPauseMs = 5_000;
const shutOutPauseMs = 1_000;

/** A part of the log, and how far that reaches. */
type Stretch = Awaited<ReturnType<EventLog["readLog"]>>;

/** What the runner reads, writes and asks; `writer` and `readModels` are of one store. */
export interface ProjectionRunnerParts {
  readonly log: EventLog & Pick<EventStore, "readStream">;
  readonly writer: ReadModelWriter;
  /** The writer's own view. */
  readonly readModels: Pick<ReadModels, "find" | "get">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
  /** Turns entries into what projections are to see, as many in the same order. Asked again when it fails. */
  readonly prepare: (entries: readonly LogEntry[]) => Promise<readonly LogEntry[]>;
  /**
   * How long a small batch waits for more, ms: an event accepted, attempted and delivered within this
   * time costs one write. Whoever waits for the read models ends it, see {@link ProjectionRunner.hurry}.
   */
  readonly lingerMs: number;
}

/**
 * Keeps the read models up with the log: projects entries in batches, each applied with its
 * checkpoint. A stream with an unreadable entry is set aside from there on. What purges took is cleared
 * away in between, see {@link Purges}. Definitions other than the stored ones, or a log that ends before the
 * checkpoint, have everything built again.
 */
export class ProjectionRunner {
  readonly #parts: ProjectionRunnerParts;
  readonly #aside: StreamsAside;
  #purges: Purges;
  readonly #linger: Pause;
  readonly #retry: Pause;
  readonly #waiters = new Set<{ readonly position: Position; readonly reached: () => void }>();
  #subscription: Subscription | undefined;
  #running: Promise<void> = Promise.resolve();
  #turn: Promise<unknown> = Promise.resolve();
  #purging: Promise<void> | undefined;
  #stopped = false;
  /** Nothing more is written in this term; it ends once all under way came to its end. */
  #over = false;
  #end: () => void = () => undefined;
  #applied: Position = logStart;
  #wanted: Position = logStart;

  constructor(parts: ProjectionRunnerParts) {
    this.#parts = parts;
    this.#aside = new StreamsAside(parts.readModels);
    this.#purges = this.#newPurges();
    this.#linger = new Pause(parts.clock);
    this.#retry = new Pause(parts.clock);
  }

  /**
   * Begins to follow the log. Whatever fails on the way is tried again until {@link stop}; where another has written
   * the read models meanwhile, all of it.
   */
  start(): void {
    this.#stopped = false;
    this.#running = this.#follow();
  }

  /** Resolves when nothing is being written any more. What is not applied yet is read again at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#endTerm();
    await this.#running;
  }

  /** Somebody waits for `position`: no batch lingers until that is projected. */
  hurry(position: Position): void {
    if (position > this.#wanted) this.#wanted = position;
    if (this.#wanted > this.#applied) this.#linger.end();
  }

  /** Resolves once the read models cover `position`. */
  drained(position: Position): Promise<void> {
    if (position <= this.#applied) return Promise.resolve();
    return new Promise((reached) => {
      this.#waiters.add({ position, reached });
      this.hurry(position);
    });
  }

  /** Drops the read models and builds them from the log; resolves when they cover it. Not after {@link start}. */
  async rebuild(): Promise<void> {
    await this.#persist(() => this.#reset());
    await this.#catchUp();
    while (this.#purging) await this.#purging;
    await this.#persist(() => this.#parts.writer.publish());
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      this.#over = false;
      const ended = new Promise<void>((resolve) => {
        this.#end = resolve;
      });
      await this.#run().catch(untilOver);
      await ended;
      await this.#subscription?.stop();
      this.#subscription = undefined;
      await this.#purging;
      if (this.#isStopped()) return;
      // Whoever was first may be about to stop.
      await this.#retry.wait(shutOutPauseMs);
    }
  }

  #isStopped(): boolean {
    return this.#stopped;
  }

  #endTerm(): void {
    this.#over = true;
    this.#linger.end();
    this.#retry.end();
    this.#end();
  }

  async #run(): Promise<void> {
    this.#purges = this.#newPurges();
    await this.#persist(() => this.#begin());
    await this.#catchUp();
    await this.#persist(() => this.#parts.writer.publish());
    this.#subscription = this.#parts.log.subscribe({ after: this.#applied }, (entries, upTo) =>
      this.#take(entries, upTo).catch(untilOver));
  }

  #newPurges(): Purges {
    return new Purges({ ...this.#parts, isAside: (stream) => this.#aside.has({ stream }) });
  }

  async #begin(): Promise<void> {
    const { log, writer, logger, metrics } = this.#parts;
    const state = await writer.state();
    if (state?.fingerprint === fingerprint && state.checkpoint <= (await log.head())) {
      this.#reach(state.checkpoint);
      const streams = await this.#aside.load();
      await this.#purges.load();
      this.#carryOn();
      for (let stream = 0; stream < streams; stream += 1) metrics.trouble("stream set aside");
    } else {
      if (state) logger.warn({ checkpoint: state.checkpoint }, "read models of other kind or log: building them again");
      await this.#reset();
    }
  }

  async #reset(): Promise<void> {
    await this.#parts.writer.reset(collections, fingerprint);
    this.#applied = logStart;
    await this.#aside.load();
    await this.#purges.load();
  }

  async #catchUp(): Promise<void> {
    for (let before; before !== this.#applied;) {
      before = this.#applied;
      await this.#exclusively(() => this.#project(this.#stretches()));
    }
  }

  /** What follows in the log, as much as makes a batch. */
  async *#stretches(): AsyncGenerator<Stretch> {
    let after = this.#applied;
    for (let read = 0; read < readsOfBatch; read += 1) {
      const stretch = await this.#persist(() => this.#parts.log.readLog(after, readEntries));
      if (stretch.upTo <= after) return;
      yield stretch;
      after = stretch.upTo;
    }
  }

  async #take(entries: readonly LogEntry[], upTo: Position): Promise<void> {
    if (entries.length < smallBatch && this.#wanted <= this.#applied && !this.#over) {
      await this.#linger.wait(this.#parts.lingerMs);
    }
    await this.#exclusively(() => this.#project([{ entries, upTo }]));
  }

  async #project(stretches: Iterable<Stretch> | AsyncIterable<Stretch>): Promise<void> {
    let batch: PositionedChanges[] = [];
    let done = this.#applied;
    for await (const { entries, upTo } of stretches) {
      for (const entry of await this.#persist(() => this.#parts.prepare(entries))) {
        const before = this.#purges.concerns(entry) ? await this.#persist(() => this.#changesBefore(entry)) : [];
        const changes = before === null || this.#aside.has(entry) ? [] : changesOf(entry);
        if ("unreadable" in changes) {
          // What is set aside with the stream follows from what was applied before.
          await this.#apply(batch, done);
          batch = [{ position: entry.position, changes: [...(before ?? []), ...(await this.#setAside(changes))] }];
        } else if (changes.length > 0) {
          batch.push({ position: entry.position, changes: before?.length ? [...before, ...changes] : changes });
        }
        done = entry.position;
        if (entry.type === "EventsPurged" || entry.type === "PurgeCompleted") {
          await this.#apply(batch, done);
          batch = [];
          await this.#persist(() => this.#purges.load());
          this.#carryOn();
        }
      }
      done = upTo;
    }
    await this.#apply(batch, done);
  }

  async #changesBefore(entry: LogEntry): Promise<readonly Change[] | null> {
    const eventId = await this.#eventIdOf(entry);
    return eventId === undefined ? [] : this.#purges.changesBefore(entry, eventId);
  }

  /** The event that an entry is about, if any; of an unreadable one the beginning of its stream may tell. */
  async #eventIdOf(entry: LogEntry): Promise<string | undefined> {
    const { stream } = entry;
    if (categoryOf(stream) !== "event") return undefined;
    const [told] = entry.unreadable === undefined ? [entry] : await this.#parts.log.readStream(stream, { limit: 1 });
    const data = told?.unreadable === undefined ? told?.data : undefined;
    return (data as { readonly eventId?: string } | null | undefined)?.eventId;
  }

  #setAside(entry: UnreadableEntry): Promise<readonly Change[]> {
    const { stream, revision, type, position, unreadable } = entry;
    this.#parts.metrics.trouble("stream set aside");
    const fields = { stream, revision, type, position, unreadable };
    this.#parts.logger.error(fields, "an entry cannot be read: its stream is set aside");
    return this.#persist(async () => this.#aside.add(entry, await this.#eventIdOf(entry)));
  }

  async #apply(batch: readonly PositionedChanges[], upTo: Position): Promise<void> {
    if (upTo <= this.#applied) return;
    await this.#persist(() => this.#parts.writer.apply(batch, upTo));
    this.#purges.applied();
    this.#reach(upTo);
  }

  /** Has purges carried on until nothing of them is left to do. */
  #carryOn(): void {
    if (this.#over || this.#purging || !this.#purges.pending) return;
    this.#purging = this.#finishPurges()
      .catch(untilOver)
      .finally(() => {
        this.#purging = undefined;
        this.#carryOn();
      });
  }

  async #finishPurges(): Promise<void> {
    while (this.#purges.pending) await this.#exclusively(() => this.#persist(() => this.#purges.step()));
  }

  /** One thing is done at a time: a batch of the log, or a step of the purges. */
  #exclusively<Result>(task: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(task);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  #reach(position: Position): void {
    this.#applied = position;
    for (const waiter of this.#waiters) {
      if (waiter.position > position) continue;
      this.#waiters.delete(waiter);
      waiter.reached();
    }
  }

  #shutOut(error: ReadModelsTakenOver): never {
    this.#parts.metrics.trouble("projection");
    this.#parts.logger.warn({ err: error }, "another has written the read models meanwhile: projecting begins anew");
    this.#endTerm();
    throw error;
  }

  /** Does it until it succeeds. Throws at the end: Stopped, or ReadModelsTakenOver. */
  async #persist<Result>(action: () => Promise<Result>): Promise<Result> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      if (this.#over) throw new Stopped();
      try {
        return await action();
      } catch (error) {
        if (error instanceof ReadModelsTakenOver) this.#shutOut(error);
        this.#parts.metrics.trouble("projection");
        this.#parts.logger.warn({ err: error, pauseMs }, "projecting failed: the same is tried again");
      }
      await this.#retry.wait(pauseMs);
    }
  }
}

/** The runner was told to stop before it was through. */
class Stopped extends Error {}

function untilOver(error: unknown): void {
  if (!(error instanceof Stopped || error instanceof ReadModelsTakenOver)) throw error;
}

/** What an entry changes. One that the projections cannot take is as unreadable as one that the codec cannot. */
function changesOf(entry: LogEntry): readonly Change[] | UnreadableEntry {
  if (entry.unreadable !== undefined) return entry;
  try {
    return project(entry);
  } catch (error) {
    const { stream, revision, position, id, type } = entry;
    return { stream, revision, position, id, type, unreadable: `not projected: ${String(error)}` };
  }
}
