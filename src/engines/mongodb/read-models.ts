import type { Clock, Timer } from "../../kernel/ports/clock.ts";
import { logStart, type Position } from "../../kernel/ports/event-store.ts";
import {
  ReadModelsUnavailable, type Bucket, type Document, type FieldValue, type Query, type ReadModels, type Selection,
} from "../../kernel/ports/read-models.ts";
import { Waiters } from "../../kernel/read-models/engine/waiters.ts";
import { patience, type MongoConnection } from "./connection.ts";
import { loadDefinitions, stateId, states, type Generation } from "./generation.ts";
import { Questions } from "./questions.ts";

interface Seen {
  readonly generation: number;
  readonly checkpoint: Position;
  readonly builtUnder: string;
  /** Whether another generation is being built to replace this one. */
  readonly isReplaced: boolean;
}

/** The read models for queries, of any process. */
export class MongoReadModels implements ReadModels {
  readonly #connection: MongoConnection;
  readonly #freshMs: number;
  readonly #waiters: PositionWaiters;
  #seen: Seen | null = null;
  #seenAt = -Infinity;
  #looking: Promise<Seen | null> | undefined;
  #questions: Questions | undefined;

  /** `freshMs`: how long the state is cached, and old read models are served. */
  constructor(connection: MongoConnection, { freshMs = 500 }: { readonly freshMs?: number } = {}) {
    this.#connection = connection;
    this.#freshMs = freshMs;
    this.#waiters = new PositionWaiters(connection.clock, () => this.checkpoint());
  }

  async get(collection: string, key: string): Promise<Document | null> {
    return (await this.#current()).get(collection, key);
  }

  async find(query: Query): Promise<readonly Document[]> {
    return (await this.#current()).find(query);
  }

  async keys(query: Query): Promise<readonly string[]> {
    return (await this.#current()).keys(query);
  }

  async count(selection: Selection): Promise<number> {
    return (await this.#current()).count(selection);
  }

  async distinct(
    selection: Selection,
    field: string,
    options: { readonly after?: FieldValue; readonly limit: number },
  ): Promise<readonly FieldValue[]> {
    return (await this.#current()).distinct(selection, field, options);
  }

  async sum(scope: string, from?: number, to?: number): Promise<number> {
    return (await this.#current()).sum(scope, from, to);
  }

  async buckets(scope: string, from?: number, to?: number): Promise<readonly Bucket[]> {
    return (await this.#current()).buckets(scope, from, to);
  }

  /** Reads the state: an earlier read may show a checkpoint that was lost since. */
  async checkpoint(): Promise<Position> {
    return (await this.#lookNow())?.checkpoint ?? logStart;
  }

  /** Batches are atomic. Reads the state: an earlier read may miss a later write. */
  async standsAt(checkpoint: Position): Promise<boolean> {
    return checkpoint === ((await this.#lookNow())?.checkpoint ?? logStart);
  }

  /** Reads the state: an earlier read may miss a newer generation. */
  async settle(fingerprint: string): Promise<boolean> {
    const seen = await this.#lookNow();
    return seen?.builtUnder === fingerprint && !seen.isReplaced;
  }

  /** Polls the checkpoint, once for all callers. */
  async caughtUp(position: Position, timeoutMs: number): Promise<boolean> {
    const { clock } = this.#connection;
    const began = clock.monotonic();
    const seen = this.#fresh() ?? (await this.#look().catch(() => null));
    if (position <= (seen?.checkpoint ?? logStart)) return true;
    return this.#waiters.wait(position, Math.max(0, began + timeoutMs - clock.monotonic()));
  }

  async #current(): Promise<Questions> {
    const seen = this.#fresh() ?? (await this.#look());
    if (!seen) throw new ReadModelsUnavailable("the read models are not built yet");
    if (this.#questions?.generation !== seen.generation) {
      const definitions = await loadDefinitions(this.#connection, seen.generation);
      this.#questions = new Questions(this.#connection, seen.generation, definitions);
    }
    return this.#questions;
  }

  #fresh(): Seen | null {
    const { clock } = this.#connection;
    return clock.monotonic() - this.#seenAt < this.#freshMs ? this.#seen : null;
  }

  #look(): Promise<Seen | null> {
    this.#looking ??= this.#lookNow().finally(() => { this.#looking = undefined; });
    return this.#looking;
  }

  async #lookNow(): Promise<Seen | null> {
    const at = this.#connection.clock.monotonic();
    const projection = { current: 1, "building.number": 1 };
    const state = await this.#connection.reach(ReadModelsUnavailable, patience.questionMs, (signal) =>
      states(this.#connection).findOne({ _id: stateId }, { projection, signal }));
    const seen = state?.current ? seenIn(state.current, state.building != null) : null;
    // Answers may overtake each other.
    if (at >= this.#seenAt) [this.#seenAt, this.#seen] = [at, seen];
    return seen;
  }
}

function seenIn({ number: generation, checkpoint, builtUnder }: Generation, isReplaced: boolean): Seen {
  return { generation, checkpoint, builtUnder, isReplaced };
}

const firstPauseMs = 2;
const longestPauseMs = 50;

/** Waits for another process's writes. One query serves all waiters, at once and then at growing intervals. */
export class PositionWaiters {
  readonly #clock: Clock;
  readonly #position: () => Promise<Position>;
  readonly #waiters: Waiters;
  #pauseMs = firstPauseMs;
  #pause: Timer | undefined;
  #asking = false;

  constructor(clock: Clock, position: () => Promise<Position>) {
    this.#clock = clock;
    this.#position = position;
    this.#waiters = new Waiters(clock);
  }

  wait(position: Position, timeoutMs: number): Promise<boolean> {
    const reached = this.#waiters.wait(position, timeoutMs);
    this.#pauseMs = firstPauseMs;
    this.#pause?.cancel();
    void this.#ask();
    return reached;
  }

  async #ask(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    // After a failed query, waiters only time out.
    const reached = await this.#position().catch(() => logStart);
    this.#asking = false;
    this.#waiters.reached(reached);
    if (this.#waiters.isEmpty) return;
    this.#pause = this.#clock.schedule(this.#pauseMs, () => void this.#ask());
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }
}
