import { waiting } from "../../../projections/due/due.ts";
import { eventsCounter } from "../../../projections/events/counters.ts";
import { events } from "../../../projections/events/events.ts";
import { replays } from "../../../projections/replays/replays.ts";
import { timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { UnreadableRecord } from "../../kernel/log/unreadable.ts";
import { type Clock, timestampNow } from "../../kernel/ports/clock.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import type { EventKeys } from "../../kernel/sealing/event-keys.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { destinations } from "../destinations/facts.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { candidateOf, Candidates, isMeant, type Candidate } from "./candidates.ts";
import { decide, evolve, type ReplayJob, type ReplayJobCommand } from "./facts.ts";
import { PutToWork } from "./put-to-work.ts";
import { type LoadedReplay, ReplayJobs } from "./queries.ts";

const mostInBatch = 500;
const mostInStep = 50;
/** Events put to work at once: enough to share commits, few enough that live events hardly wait for them. */
const together = 8;
/** A batch that takes longer than this is recorded in part. */
const recordEveryMs = 5_000;

/** Replays looked at together; further ones wait until some are over. */
const mostReplays = 1_000;

/** A retry that is due within this time counts as work that is under way. */
const soonMs = 60_000;

const underWay = ["Pending", "Processing", "Failed"] as const;

/** After a pause, what may be made up for at once is half a second's worth. */
const burstS = 0.5;

/** Ten tenths of an event are one. */
const rounding = 1e-9;

type ReplayRunParts =
  & Pick<KernelParts, "store" | "aggregates" | "readModels" | "freshness" | "clock" | "ids" | "metrics">
  & { readonly shown: ShownEvents; readonly jobs: ReplayJobs };

/** Replays to carry out in the background. */
export class Replaying {
  readonly #parts;
  readonly #jobs: ReplayJobs;

  constructor(parts: Omit<ReplayRunParts, "jobs"> & { readonly keys: PlatformKeys }) {
    this.#parts = parts;
    this.#jobs = new ReplayJobs(parts);
  }

  /** The ids of replays that are not settled, as far as the read models know. Throws ReadModelsUnavailable. */
  unsettled(): Promise<readonly string[]> {
    return this.#parts.readModels.keys({
      collection: replays.name,
      where: { settled: false },
      order: { field: replays.key, descending: false },
      limit: mostReplays,
    });
  }

  /** A run of a replay; null where nothing is left to do. Throws LogUnavailable, or an UnreadableRecord. */
  async begin(id: string): Promise<ReplayRun | null> {
    const loaded = await this.#jobs.load(id);
    if (!loaded || loaded.job.settled) return null;
    const { events } = await this.#parts.keys.get();
    return new ReplayRun({ ...this.#parts, jobs: this.#jobs }, loaded, events);
  }

  /** Whether a run knows the newest fact of its replay: another process, or a command, may have added one. */
  async isCurrent(id: string, run: ReplayRun): Promise<boolean> {
    return (await this.#jobs.revisionOf(id)) === run.revision;
  }
}

/** One replay, step by step. A batch is in the log before its events start: a later run knows which to look at. */
export class ReplayRun {
  readonly #parts;
  readonly #work: PutToWork;
  readonly #candidates: Candidates;
  readonly #pace: Pace;
  readonly #origin: Origin;
  #job: ReplayJob;
  #revision: number;
  /** What is left of the recorded batch; null until it is known what an earlier run did of it. */
  #batch: readonly Candidate[] | null = null;
  #cursor: string | null;
  #done: number;
  #skipped: number;
  #recordedAt: number;

  constructor(parts: ReplayRunParts, replay: LoadedReplay, keys: EventKeys) {
    const { job, revision, correlationId, orderId: causationId } = replay;
    this.#parts = parts;
    this.#job = job;
    this.#revision = revision;
    this.#work = new PutToWork(parts, replay, keys);
    this.#candidates = new Candidates(parts, job);
    this.#pace = new Pace(parts.clock, job.order.perSecond);
    this.#origin = { actor: { type: "service", part: "replayer" }, correlationId, causationId };
    ({ cursor: this.#cursor, done: this.#done, skipped: this.#skipped } = job.progress);
    this.#recordedAt = parts.clock.monotonic();
  }

  /** The revision of the replay's newest fact that this run knows; a step of it must begin at this one. */
  get revision(): number {
    return this.#revision;
  }

  get isOver(): boolean {
    return this.#job.settled;
  }

  /** Does a part of the work; false where none may be done now. Throws RevisionConflict, as queries and appends do. */
  async step(): Promise<boolean> {
    this.#batch ??= await this.#left();
    if (this.#job.state === "Cancelled") return this.#finish();
    if (this.#batch.length === 0 && !(await this.#fill())) return this.#finish();
    const worked = await this.#putToWork(this.#batch);
    const isOverdue = this.#parts.clock.monotonic() - this.#recordedAt >= recordEveryMs;
    if (isOverdue && this.#done + this.#skipped > this.#job.progress.done + this.#job.progress.skipped) {
      await this.#record();
    }
    return worked;
  }

  /** What is left of the recorded batch, once those that were put to work are counted. */
  async #left(): Promise<readonly Candidate[]> {
    const { readModels, shown } = this.#parts;
    const { tenantId, progress: { batch } } = this.#job;
    const isDone = await Promise.all(batch.map((id) => this.#work.isDone(id)));
    const left = batch.filter((_, at) => !isDone[at]);
    const documents = await shown.ask(tenantId, () =>
      Promise.all(left.map((id) => documentOf(readModels, events, id))));
    const found = documents.flatMap((document) =>
      document && isMeant(this.#job, document) ? [candidateOf(document)] : []);
    this.#done += batch.length - left.length;
    this.#skipped += left.length - found.length;
    return found;
  }

  /** Finds and records the next batch; resolves false where none is left. */
  async #fill(): Promise<boolean> {
    const wanted = Math.min(mostInBatch, Math.ceil(this.#job.order.perSecond));
    const batch = await this.#candidates.next(wanted);
    this.#batch = batch;
    if (batch.length === 0) return false;
    this.#cursor = batch.reduce((greatest, { id }) => (id > greatest ? id : greatest), "");
    await this.#record();
    return true;
  }

  /** Puts to work as many of the batch as pace and destinations allow, in order. */
  async #putToWork(batch: readonly Candidate[]): Promise<boolean> {
    const { next, passed } = await this.#next(batch);
    this.#batch = batch.slice(next.length + passed);
    this.#pace.take(next.length);
    this.#skipped += passed;
    for (let from = 0; from < next.length; from += together) {
      const some = next.slice(from, from + together);
      const actions = await allOf(some.map(({ id }) => this.#work.prepare(id)));
      // All are begun in one turn, so that the log has them in this order.
      const results = await allOf(actions.map((act) => act()));
      const done = results.filter(Boolean).length;
      this.#done += done;
      this.#skipped += some.length - done;
    }
    return next.length + passed > 0;
  }

  /** The first of the batch that may go now, and how many of these are passed over. */
  async #next(
    batch: readonly Candidate[],
  ): Promise<{ readonly next: readonly Candidate[]; readonly passed: number }> {
    const most = Math.min(this.#pace.allowed, mostInStep);
    const room = new Map<string, number | null>();
    const next: Candidate[] = [];
    const { toDestinationId } = this.#job.order;
    let passed = 0;
    for (const candidate of batch) {
      if (candidate.destinationId === toDestinationId) {
        passed += 1;
        continue;
      }
      const destinationId = toDestinationId ?? candidate.destinationId;
      const left = room.has(destinationId) ? room.get(destinationId)! : await this.#roomOf(destinationId);
      if (left === null) passed += 1;
      else if (next.length >= most || left <= 0) break;
      else next.push(candidate);
      room.set(destinationId, left === null ? null : left - 1);
    }
    return { next, passed };
  }

  /** How many more events a destination may have outstanding; null for a deleted or unreadable one. */
  async #roomOf(destinationId: string): Promise<number | null> {
    const { clock, freshness, readModels } = this.#parts;
    const { tenantId } = this.#job;
    const limit = await this.#limitOf(destinationId);
    if (limit === null) return null;
    const most = 2 * limit;
    // Asked freshly: the read models then know all that this run put to work.
    return most - await freshness.ask(() => outstandingOf(readModels, { tenantId, destinationId }, clock.now(), most));
  }

  async #limitOf(destinationId: string): Promise<number | null> {
    try {
      const { state } = await this.#parts.aggregates.current(destinations, destinationId);
      return state && !state.deleted ? state.serverRateLimit : null;
    } catch (error) {
      if (error instanceof UnreadableRecord) return null;
      throw error;
    }
  }

  #record(): Promise<void> {
    const batch = (this.#batch ?? []).map(({ id }) => id);
    const progress = { done: this.#done, skipped: this.#skipped, cursor: this.#cursor, batch };
    return this.#append({ type: "Progress", progress, at: timestampNow(this.#parts.clock) });
  }

  async #finish(): Promise<true> {
    await this.#append({ type: "Finish", done: this.#done, at: timestampNow(this.#parts.clock) });
    return true;
  }

  async #append(command: ReplayJobCommand): Promise<void> {
    const facts = decide(this.#job, command);
    this.#revision = await this.#parts.jobs.append(this.#job.id, this.#revision, facts, this.#origin);
    this.#job = facts.reduce<ReplayJob>((job, fact) => evolve(job, fact) ?? job, this.#job);
    this.#recordedAt = this.#parts.clock.monotonic();
  }
}

/** Spreads work over time: so many a second, beginning with one. */
export class Pace {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #perSecond: number;
  #credit = 1;
  #at: number;

  constructor(clock: Pick<Clock, "monotonic">, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#at = clock.monotonic();
  }

  /** How many may begin now: a whole number. */
  get allowed(): number {
    const now = this.#clock.monotonic();
    const most = Math.max(1, this.#perSecond * burstS);
    this.#credit = Math.min(most, this.#credit + ((now - this.#at) / 1_000) * this.#perSecond);
    this.#at = now;
    return Math.floor(this.#credit + rounding);
  }

  /** Counts so many as begun. */
  take(count: number): void {
    this.#credit -= count;
  }
}

/** The events of a destination to be sent, being sent, or with a retry due within a minute, of these `most` at most. */
async function outstandingOf(
  readModels: Pick<ReadModels, "sum" | "keys">,
  { tenantId, destinationId }: { readonly tenantId: string; readonly destinationId: string },
  now: number,
  most: number,
): Promise<number> {
  const place = { tenantId, destinationUrlId: destinationId };
  const [retries, ...counts] = await Promise.all([
    readModels.keys({
      collection: waiting.name,
      where: { destinationId },
      range: { field: "dueAt", to: timestamp(now + soonMs) },
      order: { field: "dueAt", descending: false },
      limit: most,
    }),
    ...underWay.map((status) => readModels.sum(eventsCounter({ ...place, status }, "all"))),
  ]);
  return counts.reduce((sum, count) => sum + count, retries.length);
}

/** As `Promise.all`, but rejects only when none is under way any more. */
async function allOf<Result>(tasks: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(tasks);
  return Promise.all(tasks);
}
