import { logStart, type Position } from "../../src/kernel/ports/event-store.ts";
import {
  ReadModelsTakenOver, ReadModelsUnavailable, type ReadModels, type ReadModelWriter,
} from "../../src/kernel/ports/read-models.ts";
import { InMemoryReadModels } from "../support/in-memory-read-models.ts";
import { Engine } from "./engine.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** The read models of the simulated world, behind an engine that answers late or not at all. */
export class SimulatedReadModels {
  readonly engine: Engine;
  /** Their present contents. */
  readonly contents = new InMemoryReadModels();
  /** Whether the read models are lost: the next projector finds none, and must build them. */
  lost = false;
  /** Called with positions that a reader waits for. */
  wanted: (position: Position) => void = () => undefined;
  /** The process that asked for the state last; later writes of earlier writers are refused. */
  #writer: SimulatedProcess | undefined;
  readonly #scheduler: Scheduler;
  #checkpoint: Position = logStart;
  readonly #waiting = new Set<{ readonly position: Position; readonly reached: () => void }>();

  constructor(parts: { readonly scheduler: Scheduler; readonly random: Random }) {
    this.#scheduler = parts.scheduler;
    const unavailable = (message: string) => new ReadModelsUnavailable(message);
    this.engine = new Engine("the read models", { random: parts.random, unavailable, together: true });
  }

  /** The access of a process, with writes for a projector. */
  client(process: SimulatedProcess): ReadModels & ReadModelWriter {
    const ask = async <Result>(perform: () => Promise<Result>): Promise<Result> => process.ask(this.engine, perform);
    const { contents } = this;
    const write = (perform: () => Promise<void>) => ask(() => {
      if (this.#writer !== process) throw new ReadModelsTakenOver("another writes the read models by now");
      return perform();
    });
    return {
      get: (collection, key) => ask(() => contents.get(collection, key)),
      find: (query) => ask(() => contents.find(query)),
      keys: (query) => ask(() => contents.keys(query)),
      count: (selection) => ask(() => contents.count(selection)),
      distinct: (selection, field, options) => ask(() => contents.distinct(selection, field, options)),
      sum: (scope, from, to) => ask(() => contents.sum(scope, from, to)),
      buckets: (scope, from, to) => ask(() => contents.buckets(scope, from, to)),
      checkpoint: () => ask(() => contents.checkpoint()),
      standsAt: (checkpoint) => ask(() => contents.standsAt(checkpoint)),
      settle: (fingerprint) => ask(() => contents.settle(fingerprint)),
      caughtUp: (position, timeoutMs) => this.#caughtUp(process, position, timeoutMs),
      state: () => ask(async () => {
        this.#writer = process;
        return this.lost ? null : contents.state();
      }),
      reset: (definitions, fingerprint) => write(() => {
        this.lost = false;
        this.#checkpoint = logStart;
        return contents.reset(definitions, fingerprint);
      }),
      publish: () => write(() => contents.publish()),
      apply: (batch, checkpoint) => write(async () => {
        await contents.apply(batch, checkpoint);
        if (checkpoint > this.#checkpoint) this.#reach(checkpoint);
      }),
      removeCounters: (text) => write(() => contents.removeCounters(text)),
      amend: (changes) => write(() => contents.amend(changes)),
    };
  }

  async #caughtUp(process: SimulatedProcess, position: Position, timeoutMs: number): Promise<boolean> {
    const { reached } = await process.ask(this.engine, () => {
      if (position <= this.#checkpoint) return { reached: Promise.resolve(true) };
      this.wanted(position);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const waiter = { position, reached: () => process.hear(() => resolve(true)) };
      this.#waiting.add(waiter);
      this.#scheduler.after(timeoutMs, () => process.hear(() => {
        this.#waiting.delete(waiter);
        resolve(false);
      }));
      return { reached: promise };
    });
    return reached;
  }

  #reach(position: Position): void {
    this.#checkpoint = position;
    for (const waiter of this.#waiting) {
      if (waiter.position > position) continue;
      this.#waiting.delete(waiter);
      waiter.reached();
    }
  }
}
