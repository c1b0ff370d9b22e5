import { JsonEventCodec } from "../../src/adapters/event-codec/event-codec.ts";
import { categoryOf } from "../../src/domain/streams.ts";
import {
  LogUnavailable, noStream, RevisionConflict,
  type Appended, type BatchHandler, type EventStore, type LogEntry, type NewEntry, type Position,
  type RecordedEvent, type Subscription, type SubscriptionOptions,
} from "../../src/ports/event-store.ts";
import { position } from "../support/position.ts";
import { Engine } from "./engine.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** Told of what becomes durable, at that very moment. */
export interface LogWatcher {
  committed(entries: readonly RecordedEvent[], by: SimulatedProcess): void;
  deleted(stream: string): void;
}

/** The one log of the simulated world, and how it behaves. */
export class SimulatedLog {
  readonly engine: Engine;
  /** How late subscribers hear of a commit at most, ms. */
  lagMs = 2;
  watcher: LogWatcher | undefined;
  /** Whether readers of the whole log meet deleted entries until some later clearing up. */
  keepsDeleted = false;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #log: RecordedEvent[] = [];
  readonly #streams = new Map<string, RecordedEvent[]>();
  readonly #nextRevision = new Map<string, number>();
  readonly #deleted = new Set<RecordedEvent>();
  readonly #followers = new Set<() => void>();
  readonly #codec = new JsonEventCodec();

  constructor(parts: { readonly scheduler: Scheduler; readonly random: Random }) {
    this.#scheduler = parts.scheduler;
    this.#random = parts.random;
    const unavailable = (message: string) => new LogUnavailable(message);
    this.engine = new Engine("the log", { random: parts.random, unavailable });
  }

  get head(): Position {
    return position(this.#log.length);
  }

  /** The log as a process sees it. */
  client(process: SimulatedProcess): EventStore {
    const ask = <Answer>(perform: () => Answer) => process.ask(this.engine, perform);
    return {
      append: async (stream, expected, entries) => {
        const stored = entries.map((entry) => this.#stored(entry));
        return ask(() => this.#append(stream, expected, stored, process));
      },
      readStream: (stream, options) => ask(() => this.#readStream(stream, options)),
      deleteStream: (stream, expected) => ask(() => this.#delete(stream, expected)),
      readLog: (after, limit) => ask(() => this.#readLog(after, limit)),
      head: () => ask(() => this.head),
      subscribe: (options, handle) => this.#subscribe(process, options, handle),
    };
  }

  #stored({ id, event, metadata }: NewEntry) {
    const decoded = this.#codec.decode(this.#codec.encode(event, metadata));
    if ("unreadable" in decoded) throw new Error(decoded.unreadable);
    const { type, data } = decoded.event;
    return { id, type, data, metadata: decoded.metadata };
  }

  #append(
    stream: string,
    expected: number,
    entries: readonly Pick<RecordedEvent, "id" | "type" | "data" | "metadata">[],
    process: SimulatedProcess,
  ): Appended {
    const live = this.#streams.get(stream) ?? [];
    const actual = live.at(-1)?.revision ?? noStream;
    if (actual !== expected) throw new RevisionConflict(stream, expected, actual);
    let revision = this.#nextRevision.get(stream) ?? 0;
    const recorded = entries.map((entry) => {
      const one = { ...entry, stream, revision, position: position(this.#log.length + 1) };
      this.#log.push(one);
      revision += 1;
      return one;
    });
    this.#streams.set(stream, [...live, ...recorded]);
    this.#nextRevision.set(stream, revision);
    this.watcher?.committed(recorded, process);
    for (const follow of this.#followers) follow();
    return { revision: revision - 1, position: this.head };
  }

  #readStream(
    stream: string,
    { from, limit, backwards = false }: NonNullable<Parameters<EventStore["readStream"]>[1]> = {},
  ): readonly LogEntry[] {
    const live = this.#streams.get(stream) ?? [];
    const inOrder = backwards ? live.toReversed() : live;
    return inOrder
      .filter(({ revision }) => from === undefined || (backwards ? revision <= from : revision >= from))
      .slice(0, limit);
  }

  #delete(stream: string, expected?: number): void {
    const live = this.#streams.get(stream) ?? [];
    const actual = live.at(-1)?.revision ?? noStream;
    if (actual === noStream) return;
    if (expected !== undefined && actual !== expected) throw new RevisionConflict(stream, expected, actual);
    for (const entry of live) this.#deleted.add(entry);
    this.#streams.delete(stream);
    this.watcher?.deleted(stream);
  }

  #readLog(after: Position, limit: number): { readonly entries: readonly RecordedEvent[]; readonly upTo: Position } {
    const found = this.#log.slice(Number(after), Number(after) + limit);
    const entries = this.keepsDeleted ? found : found.filter((entry) => !this.#deleted.has(entry));
    return { entries, upTo: found.at(-1)?.position ?? after };
  }

  #subscribe(
    process: SimulatedProcess,
    { after, categories, types }: SubscriptionOptions,
    handle: BatchHandler,
  ): Subscription {
    let position = after;
    let running: Promise<void> | undefined;
    let stopped = false;
    let told = false;
    const pause = (ms: number) => new Promise<void>((resolve) => process.clock.schedule(ms, resolve));
    const isWanted = ({ stream, type }: LogEntry) =>
      (categories?.includes(categoryOf(stream)) ?? true) && (types?.includes(type) ?? true);
    const run = async () => {
      while (!stopped && position < this.head) {
        const { entries, upTo } = this.#readLog(position, 1 + this.#random.below(200));
        try {
          await handle(entries.filter(isWanted), upTo);
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
          if (!stopped && position < this.head) follow();
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
