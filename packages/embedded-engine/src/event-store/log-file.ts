import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { inFile, sync } from "../../../../src/kernel/files.ts";
import type { Converter } from "../sqlite/conversion.ts";
import { formatIn, marking, requireFormat, type FileFormat } from "../sqlite/file-format.ts";
import { emptyWriteAheadLog, moveWriteAheadLog } from "../sqlite/write-ahead-log.ts";
import type { Sequence } from "./positions.ts";
import type { Located } from "./stream-index/memtable.ts";
import type { RowHead } from "./stream-index/stream-index.ts";

/** The log's own file in the data folder. */
export function logPath(dataDir: string): string {
  return join(dataDir, "log.db");
}

/** A segment as the manifest lists it. */
export interface ListedSegment {
  readonly file: string;
  /** The log is indexed up to here by this segment and the ones before it. */
  readonly upTo: Sequence;
}

/** An entry of a stream as the table holds it; `metadata` and `data` are JSON. */
export interface Row {
  readonly sequence: Sequence;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly metadata: string;
  readonly data: string;
}

/** The format of the log's file. The index's segments, and the list of them, can be rebuilt from the rest. */
export const logFormat: FileFormat = { version: 2, release: "0.1.0" };
/** See {@link KeptFile}. */
export const logConverters: readonly Converter[] = [];

/** How long others may hold a lock before it is an error; only tools from outside ever do. */
const lockPatienceMs = 1000;

/** Selects the {@link Row} at a sequence, if it is this stream's and not deleted. */
export const selectRow = `
  SELECT sequence, revision, id, type, metadata, data FROM log WHERE sequence = ? AND stream = ? AND type <> ''`;

/** A connection to the log at a path that writes nothing. */
export function openToRead(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: lockPatienceMs });
}

/**
 * The log in SQLite: one table, written in the order of its key, and the manifest of the index's segments.
 *
 * Deleting an entry empties its row (an empty type marks it) and keeps the stream's name and revision. A row
 * is never taken out: SQLite would rebuild neighbouring pages and leave copies of live rows in their gaps, out
 * of reach when those are deleted later. A row that shrinks stays in place, and its former content is zeroed.
 */
export class LogFile {
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #rowHead: StatementSync;
  readonly #row: StatementSync;
  readonly #empty: StatementSync;
  readonly #begin: StatementSync;
  readonly #beginReading: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;

  /** Opens or makes the log in an existing folder. Throws when that fails, or when the file is of another version. */
  constructor(path: string) {
    this.#path = path;
    this.#db = inFile(path, () => new DatabaseSync(path, { timeout: lockPatienceMs }));
    inFile(path, () => requireFormat(formatIn(this.#db), logFormat));
    inFile(path, () => this.#db.exec(`
      PRAGMA page_size = 8192;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA secure_delete = ON;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA cache_size = -16000;
      BEGIN IMMEDIATE;
      CREATE TABLE IF NOT EXISTS log (
        sequence INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL, id TEXT NOT NULL,
        type TEXT NOT NULL, metadata TEXT NOT NULL, data TEXT NOT NULL
      ) STRICT;
      CREATE TABLE IF NOT EXISTS segments (file TEXT PRIMARY KEY, up_to INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      ${marking(logFormat)}
      COMMIT;
    `));
    sync(dirname(path));
    this.#insert = this.#db.prepare("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)");
    this.#rowHead = this.#db.prepare("SELECT stream, type FROM log WHERE sequence = ?");
    this.#row = this.#db.prepare(selectRow);
    this.#empty = this.#db.prepare("UPDATE log SET id = '', type = '', metadata = '', data = '' WHERE sequence = ?");
    this.#begin = this.#db.prepare("BEGIN IMMEDIATE");
    this.#beginReading = this.#db.prepare("BEGIN");
    this.#commit = this.#db.prepare("COMMIT");
    this.#rollback = this.#db.prepare("ROLLBACK");
  }

  /** Runs `work` in a durable transaction; when anything fails, nothing of it remains. */
  transaction<Result>(work: () => Result): Result {
    this.#endTransaction();
    this.#begin.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      this.#endTransaction();
      throw error;
    }
  }

  /** Runs `work`, which only reads: with several reads the file is locked once. Not within {@link transaction}. */
  reading<Result>(work: () => Result): Result {
    // A transaction that a failure left open does reads no harm, and is ended by the next write.
    if (this.#db.isTransaction) return work();
    this.#beginReading.run();
    try {
      return work();
    } finally {
      this.#endTransaction();
    }
  }

  /** Writes without changing anything, as durably as a transaction of so many bytes. Throws when that fails. */
  probe(bytes: number): void {
    // The room is tested with another file: the log's own files would stay as large.
    const path = `${this.#path}-probe`;
    try {
      writeFileSync(path, Buffer.alloc(bytes), { flush: true });
    } finally {
      rmSync(path, { force: true });
    }
    this.transaction(() => this.#db.exec(marking(logFormat)));
  }

  /** Adds a row within a transaction of the caller's; a sequence that is there already throws. */
  insert(
    sequence: Sequence, stream: string, revision: number, id: string, type: string, metadata: string, data: string,
  ): void {
    this.#insert.run(sequence, stream, revision, id, type, metadata, data);
  }

  /** The stream of a row, and whether the row was deleted; undefined where there is no such sequence. */
  rowHead(sequence: Sequence): RowHead | undefined {
    const row = this.#rowHead.get(sequence) as { stream: string; type: string } | undefined;
    return row && { stream: row.stream, gone: row.type === "" };
  }

  /** The row, if it is this stream's and not deleted. */
  row(sequence: Sequence, stream: string): Row | undefined {
    return this.#row.get(sequence, stream) as unknown as Row | undefined;
  }

  /** Deletes an entry: its row stays, with its stream and revision. Within a transaction of the caller's. */
  empty(sequence: Sequence): void {
    this.#empty.run(sequence);
  }

  /** The last sequence ever given. Like {@link rowHeadsAfter}, throws an error that names the file if it is damaged. */
  head(): Sequence {
    const select = this.#db.prepare("SELECT coalesce(max(sequence), 0) AS head FROM log");
    return inFile(this.#path, () => select.get())!["head"] as number;
  }

  /** Every row after `after`, deleted ones too, in order. */
  *rowHeadsAfter(after: Sequence): Iterable<RowHead & Located> {
    const select = "SELECT sequence, stream, revision, type FROM log WHERE sequence > ? ORDER BY sequence";
    const rows = this.#db.prepare(select).iterate(after);
    const next = () => inFile(this.#path, () => rows.next());
    for (let row = next(); !row.done; row = next()) {
      const { sequence, stream, revision, type } = row.value as unknown as Located & { stream: string; type: string };
      yield { sequence, stream, revision, gone: type === "" };
    }
  }

  /** From old to new. */
  listedSegments(): ListedSegment[] {
    const select = "SELECT file, up_to AS upTo FROM segments ORDER BY up_to";
    return this.#db.prepare(select).all() as unknown as ListedSegment[];
  }

  /** Adds a segment to the manifest; its file must be whole and synced by then. */
  listSegment({ file, upTo }: ListedSegment): void {
    this.#db.prepare("INSERT INTO segments VALUES (?, ?)").run(file, upTo);
  }

  /** Lists a segment in the place of those it was merged from. */
  listMerged(file: string, inputs: readonly string[]): void {
    this.transaction(() => {
      const upTo = this.listedSegments().find((segment) => segment.file === inputs.at(-1))!.upTo;
      for (const input of inputs) this.#db.prepare("DELETE FROM segments WHERE file = ?").run(input);
      this.listSegment({ file, upTo });
    });
  }

  /** Empties the manifest: the next start rebuilds the index from the log. */
  forgetSegments(): void {
    this.transaction(() => this.#db.exec("DELETE FROM segments"));
  }

  /** Moves the write-ahead log into the database file, as far as no reader is in the way. */
  checkpoint(): void {
    moveWriteAheadLog(this.#db, this.#path);
  }

  /** How many pages of the write-ahead log have not been moved. */
  unmovedPages(): number {
    const { log, checkpointed } = this.#db.prepare("PRAGMA wal_checkpoint(NOOP)").get() as Record<string, number>;
    return log! - checkpointed!;
  }

  /** Empties the write-ahead log, so that no old page is left in it; false when a reader stays in the way. */
  truncate(patienceMs: number): boolean {
    this.#db.exec(`PRAGMA busy_timeout = ${patienceMs}`);
    try {
      return emptyWriteAheadLog(this.#db, this.#path);
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${lockPatienceMs}`);
    }
  }

  /** No method may be called after it. */
  close(): void {
    this.#db.close();
  }

  /**
   * Rolls back a transaction that a failure left open. Some failures have rolled back already; after others even this
   * fails, and the next transaction tries again.
   */
  #endTransaction(): void {
    if (this.#db.isTransaction) this.#rollback.run();
  }
}
