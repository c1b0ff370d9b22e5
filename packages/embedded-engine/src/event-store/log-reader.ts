import type { DatabaseSync, StatementSync } from "node:sqlite";
import { entryOf, type EventCodec } from "../../../../src/kernel/ports/event-codec.ts";
import type { EntryTime, LogEntry, Wanted } from "../../../../src/kernel/ports/event-store.ts";
import { openToRead } from "./log-file.ts";
import { positionOf, type Sequence } from "./positions.ts";

/** Consecutive entries of the log, and the sequence that they reach. */
export interface Stretch {
  readonly entries: readonly LogEntry[];
  readonly upTo: Sequence;
}

/** Rows examined and bytes taken by one read, so that it does not hold its thread for long. */
const windowRows = 4096;
const windowBytes = 4 * 1024 * 1024;
/** A read of times ends after this: old entries come from the disk. */
const timesMs = 5;

interface Times {
  readonly times: readonly EntryTime[];
  readonly upTo: Sequence;
}

/** Reads the log over a read-only connection of its own thread. */
export class LogReader {
  readonly #db: DatabaseSync;
  readonly #codec: EventCodec;
  readonly #statements = new Map<string, StatementSync>();
  readonly #selectTimes: StatementSync;

  constructor(path: string, codec: EventCodec) {
    this.#db = openToRead(path);
    this.#codec = codec;
    // Payloads come last in a row, so SQLite does not read their overflow pages.
    this.#selectTimes = this.#db.prepare(`
      SELECT sequence, metadata FROM log WHERE sequence > ? AND sequence <= ? AND type <> '' ORDER BY sequence`);
    this.#selectTimes.setReturnArrays(true);
  }

  /** Reads up to `limit` entries, and the sequence reached, up to `head`. `mostBytes`: more only for one entry. */
  read(after: Sequence, head: Sequence, limit: number, wanted: Wanted, mostBytes = windowBytes): Stretch {
    const end = Math.min(after + windowRows, head);
    const entries: LogEntry[] = [];
    let bytes = 0;
    const { categories = [], types = [] } = wanted;
    for (const row of this.#select(wanted).iterate(after, end, ...categories, ...types)) {
      const [sequence, stream, revision, id, type, metadata, data] = row as unknown as
        [number, string, number, string, string, string, string];
      const position = positionOf(sequence);
      entries.push(entryOf(this.#codec, { stream, revision, position, id, type, metadata, data }));
      bytes += metadata.length + data.length;
      if (entries.length === limit || bytes >= mostBytes) return { entries, upTo: sequence };
    }
    return { entries, upTo: Math.max(after, end) };
  }

  times(after: Sequence, head: Sequence, limit: number): Times {
    const end = Math.min(after + windowRows, head);
    const times: EntryTime[] = [];
    const until = performance.now() + timesMs;
    for (const row of this.#selectTimes.iterate(after, end)) {
      const [sequence, metadata] = row as unknown as [number, string];
      times.push({ position: positionOf(sequence), at: this.#codec.timeOf(metadata) });
      if (times.length === limit || performance.now() >= until) return { times, upTo: sequence };
    }
    return { times, upTo: Math.max(after, end) };
  }

  close(): void {
    this.#db.close();
  }

  #select({ categories, types }: Wanted): StatementSync {
    const key = `${categories?.length} ${types?.length}`;
    const known = this.#statements.get(key);
    if (known) return known;
    const category = "CASE instr(stream, '-') WHEN 0 THEN stream ELSE substr(stream, 1, instr(stream, '-') - 1) END";
    const within = (expression: string, values: readonly string[] | undefined) =>
      values ? `AND ${expression} IN (${Array(values.length).fill("?").join(", ")})` : "";
    const filter = `${within(category, categories)} ${within("type", types)}`;
    const statement = this.#db.prepare(`
      SELECT sequence, stream, revision, id, type, metadata, data FROM log
      WHERE sequence > ? AND sequence <= ? AND type <> '' ${filter} ORDER BY sequence`);
    statement.setReturnArrays(true);
    this.#statements.set(key, statement);
    return statement;
  }
}
