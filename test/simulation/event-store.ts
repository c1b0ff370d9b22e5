import { isPosition } from "../../packages/embedded-engine/src/index.ts";
import { sleep } from "../../src/kernel/ports/clock.ts";
import {
  isWanted, LogUnavailable, timesOf, type Appended, type BatchHandler, type EventStore, type Position,
  type RecordedEvent, type Subscription, type SubscriptionOptions,
} from "../../src/kernel/ports/event-store.ts";
import { MemoryLog, stored, type StoredEntry } from "../support/memory-log.ts";
import { Engine } from "./engine.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** Receives facts and deletions at the moment when they become durable. */
export interface LogWatcher {
  committed(entries: readonly RecordedEvent[], by: SimulatedProcess): void;
  deleted(stream: string): void;
}

/** The log of the simulated world, and its behaviour. */
export class SimulatedLog {
  readonly engine: Engine;
  /** The longest delay until subscribers hear of a commit, ms. */
  lagMs = 2;
  watcher: LogWatcher | undefined;
  /** Whether reads of the whole log return deleted entries. */
  readonly keepsDeleted: boolean;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #log = new MemoryLog();
  readonly #followers = new Set<() => void>();

  constructor(parts: { readonly scheduler: Scheduler; readonly random: Random; readonly keepsDeleted: boolean }) {
    this.#scheduler = parts.scheduler;
    this.#random = parts.random;
    this.keepsDeleted = parts.keepsDeleted;
    const unavailable = (message: string) => new LogUnavailable(message);
    this.engine = new Engine("the log", { random: parts.random, unavailable });
  }

  /** The log as a process sees it. */
  client(process: SimulatedProcess): EventStore {
    const ask = <Result>(perform: () => Result) => process.ask(this.engine, perform);
    return {
      append: async (stream, expected, entries) => {
        const facts = entries.map((entry) => stored(entry));
        return ask(() => this.#append(stream, expected, facts, process));
      },
      readStream: (stream, options) => ask(() => this.#log.readStream(stream, options)),
      deleteStream: (...asked) => ask(() => this.#delete(...asked)),
      readLog: (after, limit) => ask(() => this.#readLog(after, limit)),
      readTimes: (after, limit) => ask(() => {
        const { entries, upTo } = this.#readLog(after, limit);
        return { times: timesOf(entries), upTo };
      }),
      head: () => ask(() => this.#log.head),
      end: () => ask(() => this.#log.head),
      isPosition,
      subscribe: (options, handle) => this.#subscribe(process, options, handle),
    };
  }

  #append(stream: string, expected: number, facts: readonly StoredEntry[], process: SimulatedProcess): Appended {
    const { appended, recorded } = this.#log.append(stream, expected, facts);
    this.watcher?.committed(recorded, process);
    for (const follow of this.#followers) follow();
    return appended;
  }

  #delete(...asked: Parameters<EventStore["deleteStream"]>): void {
    const [stream] = asked;
    if (this.#log.delete(...asked)) this.watcher?.deleted(stream);
  }

  #readLog(after: Position, limit: number): { readonly entries: readonly RecordedEvent[]; readonly upTo: Position } {
    return this.#log.readLog(after, limit, { withDeleted: this.keepsDeleted });
  }

  #subscribe(
    process: SimulatedProcess,
    { after, ...wanted }: SubscriptionOptions,
    handle: BatchHandler,
  ): Subscription {
    let position = after;
    let running: Promise<void> | undefined;
    let stopped = false;
    let told = false;
    const pause = (ms: number) => sleep(process.clock, ms);
    const run = async () => {
      while (!stopped && position < this.#log.head) {
        const { entries, upTo } = this.#readLog(position, 1 + this.#random.below(200));
        try {
          await handle(entries.filter((entry) => isWanted(entry, wanted)), upTo);
          position = upTo;
        } catch {
          await pause(100);
        }
      }
    };
    const follow = () => {
      if (told || stopped) return;
      told = true;
      this.#scheduler.after(this.#lag(), () => process.hear(() => {
        told = false;
        if (this.engine.down) follow();
        else running ??= run().finally(() => {
          running = undefined;
          if (!stopped && position < this.#log.head) follow();
        });
      }));
    };
    this.#followers.add(follow);
    follow();
    return {
      stop: async () => {
        stopped = true;
        this.#followers.delete(follow);
        await running;
      },
    };
  }

  #lag(): number {
    return this.#random.chance(0.9) ? this.#random.between(0.05, 2) : this.#random.between(0, this.lagMs);
  }
}
