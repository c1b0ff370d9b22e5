import type { RecordedEvent } from "../../src/kernel/ports/event-store.ts";
import { Books } from "./books.ts";
import { Broken, hold } from "./broken.ts";
import { describe } from "./errors.ts";
import { SimulatedLog } from "./event-store.ts";
import { SimulatedExpiringState } from "./expiring-state.ts";
import { Faults } from "./faults.ts";
import { checkEnd } from "./final-checks.ts";
import { Fleet } from "./fleet.ts";
import { Model } from "./model.ts";
import type { Engines } from "./node.ts";
import { WallTime } from "./process.ts";
import { SimulatedQueue } from "./queue.ts";
import { Random } from "./random.ts";
import { SimulatedReadModels } from "./read-models.ts";
import { Receivers } from "./receivers.ts";
import { Scheduler } from "./scheduler.ts";
import { short, Trace } from "./trace.ts";
import { Users } from "./users.ts";
import { newsMs, promptness, weatherOf, type Weather } from "./weather.ts";

/** The result of one run. */
export interface RunResult {
  readonly seed: string;
  readonly weather: Weather;
  /** The first invariant that did not hold; undefined when all did. */
  readonly broken: Error | undefined;
  /** The last lines of the trace. */
  readonly last: readonly string[];
  /** A hash over the whole trace: the same for the same seed. */
  readonly digest: string;
  readonly figures: Readonly<Record<string, number>>;
  /** The smallest number of requests to engines by a process, until faults and operations ended. */
  readonly questions: number;
}

export interface SimulationOptions {
  /** Multiplies the operations. */
  readonly scale?: number;
  /** Called with every line of the trace. */
  readonly print?: (line: string) => void;
  /** No faults, for any seed. */
  readonly fair?: true;
  /** Changes to the weather of the seed. */
  readonly weather?: Partial<Weather>;
  /** A process dies at its request after `question` others, before or after the engine has performed it. */
  readonly death?: { readonly question: number; readonly done: boolean };
}

const deliveryTimeoutMs = 5_000;
/** The relay adds this to the deadline for an attempt's lease. */
const leaseMarginMs = 5_000;
const retry = { scheduleMs: [500, 2_000, 5_000, 10_000], jitter: 0.1 };
/** All work must be done after this long without faults; clocks that were set back prolong it. */
const patienceMs = 90_000;
const sliceMs = 1_000;
const quietMs = 20_000;

/**
 * One run: the real relay in a simulated world that depends on the seed alone. After a phase of faults and operations,
 * the run goes on without them until nothing changes any more, and the final state is checked.
 */
export class Simulation {
  readonly #seed: string;
  readonly #weather: Weather;
  readonly #scheduler = new Scheduler();
  readonly #trace: Trace;
  readonly #wall: WallTime;
  readonly #engines: Engines;
  readonly #model: Model;
  readonly #books: Books;
  readonly #fleet: Fleet;
  readonly #faults: Faults;
  readonly #users: Users;
  readonly #random: Random;
  readonly #death: SimulationOptions["death"];
  #settlingFrom = 0;
  #questions = 0;
  #broken: Error | undefined;

  constructor(seed: string, options: SimulationOptions = {}) {
    const { scale = 1, print, fair = false, weather, death } = options;
    const random = new Random(seed);
    const scheduler = this.#scheduler;
    const now = () => scheduler.now;
    this.#seed = seed;
    this.#random = random.fork("operations");
    this.#death = death;
    const usual = weatherOf(random.fork("weather"), { scale, fair });
    this.#weather = { ...usual, ...(weather && { fair: false, ...weather }) };
    this.#trace = new Trace(scheduler, print);
    this.#wall = new WallTime(scheduler);
    const { keepsDeleted } = this.#weather;
    const log = new SimulatedLog({ scheduler, random: random.fork("log"), keepsDeleted });
    const queue = new SimulatedQueue({ scheduler, random: random.fork("queue"), trace: this.#trace });
    const receivers = new Receivers({ scheduler, random: random.fork("receivers") });
    this.#engines = {
      log, queue, receivers,
      readModels: new SimulatedReadModels({ scheduler, random: random.fork("read models") }),
      state: new SimulatedExpiringState({ scheduler, random: random.fork("state") }),
    };
    const broken = (error: unknown) => this.#fail(error);
    const news = newsMs(this.#weather);
    const prompt = promptness({ ...this.#weather, fair: this.#weather.fair && !death });
    const { processes, jumpEveryMs, skewMs } = this.#weather;
    this.#model = new Model(now, {
      ...retry, leaseMs: deliveryTimeoutMs + leaseMarginMs, newsMs: news, ...prompt, isAlone: processes === 1,
      clocksApartMs: jumpEveryMs < Infinity ? Infinity : skewMs,
    });
    const claimMs = newsMs({ ...this.#weather, stallEveryMs: Infinity });
    this.#books = new Books({ model: this.#model, queue, now, newsMs: news, claimMs });
    log.watcher = {
      committed: (entries, by) => this.#guarded(() => {
        for (const entry of entries) this.#trace.add(`${by.name} wrote ${lineOf(entry)}`);
        this.#books.learn(entries);
        this.#books.claimed(entries, by);
        this.#model.committed(entries, by);
      }),
      deleted: (stream) => this.#guarded(() => this.#model.deleted(stream)),
    };
    receivers.watcher = {
      sent: (call) => this.#guarded(() => {
        this.#trace.add(`${call.process.name} sends ${short(call.eventId)} attempt ${call.attempt}`);
        this.#books.sent(call);
      }),
      over: (call) => this.#guarded(() => this.#books.over(call)),
      heard: (call) => this.#guarded(() => this.#books.heard(call)),
    };
    receivers.tokenEndpoints.watcher = (client, isAsking) => this.#guarded(() => {
      this.#trace.add(`${client} asked for a token`);
      hold(!isAsking, "concurrent requests share one token fetch", () => client);
    });
    this.#fleet = new Fleet({
      engines: this.#engines, scheduler, wall: this.#wall, trace: this.#trace, random: random.fork("fleet"),
      count: this.#weather.processes, skewMs: this.#weather.skewMs,
      settings: {
        retry, deliveryTimeoutMs, batchDelayMs: this.#weather.batchDelayMs, several: this.#weather.processes > 1,
      },
    });
    this.#users = new Users({
      random: random.fork("producers"), model: this.#model, books: this.#books, trace: this.#trace, now, broken,
      newsMs: news, anyNode: () => this.#fleet.any(), later: (ms, task) => void scheduler.after(ms, task),
    });
    this.#faults = new Faults({
      random: random.fork("faults"), weather: this.#weather, engines: this.#engines, fleet: this.#fleet, scheduler,
      wall: this.#wall, trace: this.#trace, hosts: () => this.#users.hosts, logOutages: this.#model.outages,
    });
  }

  async run(): Promise<RunResult> {
    const unhandled = (reason: unknown) => this.#fail(new Broken("no rejection goes unhandled", describe(reason)));
    process.on("unhandledRejection", unhandled);
    try {
      await this.#play();
    } catch (error) {
      this.#fail(error);
    } finally {
      process.off("unhandledRejection", unhandled);
    }
    return {
      seed: this.#seed, weather: this.#weather, broken: this.#broken, last: this.#trace.last,
      digest: this.#trace.digest(), questions: this.#questions,
      figures: {
        settledAfter: Math.round((this.#model.changedAt - this.#settlingFrom) / 1000),
        seconds: Math.round(this.#scheduler.now / 1000), steps: this.#scheduler.steps,
        accepted: this.#model.accepted.length, requests: this.#books.calls.length, crashes: this.#fleet.crashes,
      },
    };
  }

  async #play(): Promise<void> {
    const { activeMs, operations, tenants } = this.#weather;
    const scheduler = this.#scheduler;
    this.#fleet.start();
    await this.#until(() => this.#fleet.any() !== undefined, 10_000);
    const node = this.#fleet.any();
    if (!node) throw new Broken("a relay starts", "no process became ready");
    await this.#complete(this.#users.open(node, tenants));
    const from = scheduler.now;
    for (let n = 0; n < operations; n += 1) {
      scheduler.after(this.#random.between(0, activeMs), () => this.#guarded(() => this.#users.act()));
    }
    this.#faults.begin();
    const before = this.#fleet.questions;
    if (this.#death) this.#fleet.crashAtQuestion(this.#death.question, this.#death.done);
    await this.#runTo(from + activeMs);
    this.#questions = this.#fleet.questions - before;
    this.#faults.end();
    await this.#settle();
    await checkEnd({
      model: this.#model, engines: this.#engines, fleet: this.#fleet, users: this.#users,
      weather: this.#weather, scheduler, wall: this.#wall, complete: (promise) => this.#complete(promise),
    });
  }

  /** Lets time pass until nothing changes any more. */
  async #settle(): Promise<void> {
    const from = this.#scheduler.now;
    this.#settlingFrom = from;
    const { stallEveryMs, stallMs } = this.#weather;
    // A process may still be stalled.
    const heldUpMs = stallEveryMs < Infinity ? stallMs : 0;
    const isStill = () => {
      const { now } = this.#scheduler;
      const isQuiet = now >= from + heldUpMs && now - Math.max(from, this.#model.changedAt) >= quietMs;
      return isQuiet && this.#model.unfinished().length === 0 && this.#model.suspended().length === 0;
    };
    await this.#until(isStill, patienceMs + heldUpMs);
    // An event of a deleted destination must not wait for its planned time.
    const waiting = this.#model.unfinished().find(({ status, destinationId }) =>
      status !== "Processing" && this.#model.destinations.get(destinationId)?.deleted === true);
    if (waiting) {
      throw new Broken("no event of a deleted destination waits", `${waiting.id}, until ${waiting.nextAttemptAt}`);
    }
    // Other events may have been planned by a clock that was ahead, or put off by their receiver, for a process with a
    // clock behind, or by the rate of their destination.
    const { furthestAheadMs, furthestBehindMs } = this.#faults;
    const byClocksMs = Math.max(0, furthestAheadMs) + Math.max(0, furthestBehindMs);
    const byRatesMs = this.#model.terms.takesMs(this.#model.unfinished());
    await this.#until(isStill, byClocksMs + byRatesMs + this.#weather.busyMs);
    const [open] = this.#model.suspended();
    if (open) throw new Broken("no circuit stays open for good", `${open.id}, at ${this.#wall.now()}`);
    const left = this.#model.unfinished();
    if (left.length > 0) {
      const named = left.slice(0, 5).map(({ id, status, nextAttemptAt }) => `${id} ${status} ${nextAttemptAt}`);
      throw new Broken("no work is left undone", `${left.length} events, at ${this.#wall.now()}: ${named.join(", ")}`);
    }
  }

  async #until(condition: () => boolean, atMostMs: number): Promise<void> {
    const end = this.#scheduler.now + atMostMs;
    while (!condition() && this.#scheduler.now < end) await this.#runTo(this.#scheduler.now + sliceMs);
  }

  async #complete<Result>(promise: Promise<Result>): Promise<Result> {
    const state = { isOver: false };
    const settled = () => {
      state.isOver = true;
    };
    promise.then(settled, settled);
    await this.#until(() => state.isOver, 120_000);
    if (!state.isOver) throw new Broken("every operation ends", "an answer did not come in two minutes");
    return promise;
  }

  async #runTo(end: number): Promise<void> {
    await this.#scheduler.run(end, () => this.#broken !== undefined);
    if (this.#broken) throw this.#broken;
  }

  /** The error of a check must not reach the relay, which would take it for a failure of an engine. */
  #guarded(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#broken ??= error instanceof Error ? error : new Error(String(error));
  }
}

function lineOf({ stream, revision, type, data }: RecordedEvent): string {
  const { from, to, attempt = "", position = "" } = data as Readonly<Record<string, string | undefined>>;
  const move = to === undefined ? position : `${from}>${to} ${attempt}`;
  return `${stream.slice(0, stream.indexOf("-"))} ${short(stream)}@${revision} ${type} ${move}`;
}
