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

/** The log's file in the data folder. */
export function logPath(dataDir: string): string {
  return join(dataDir, "log.db");
}

/** A segment in the manifest. */
export interface ListedSegment {
  readonly file: string;
  readonly upTo: Sequence;
}

/** An entry in the table; `metadata` and `data` are JSON. */
export interface Row {
  readonly sequence: Sequence;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly metadata: string;
  readonly data: string;
}

/** The format of the log's file. The index's segments and their manifest can be rebuilt. */
export const logFormat: FileFormat = { version: 2, release: "0.1.0" };
export const logConverters: readonly Converter[] = [];

/** How long others may hold a lock before it is an error; only external tools do. */
const lockPatienceMs = 1000;

/** Selects the {@link Row} at a sequence if it belongs to the stream and was not deleted. */
export const selectRow = `
  SELECT sequence, revision, id, type, metadata, data FROM log WHERE sequence = ? AND stream = ? AND type <> ''`;

/** A read-only connection to the log at a path. */
export function openToRead(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: lockPatienceMs });
}

/**
 * The log in SQLite: one table, written in the order of its key, and the manifest of segments. A deletion empties the
 * row and keeps stream and revision; one for good adds an empty row. Rows are never removed: SQLite would rebuild pages
 * and leave copies of live rows in gaps, out of reach of later deletions.
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

  /** Opens or creates the log in an existing folder. Throws if that fails or the version differs. */
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
      PRAGMA cache_size = -4000;
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

  /** Runs `work`, which only reads, under one lock of the file. Not within {@link transaction}. */
  reading<Result>(work: () => Result): Result {
    // A transaction left open by a failure does reads no harm; the next write ends it.
    if (this.#db.isTransaction) return work();
    this.#beginReading.run();
    try {
      return work();
    } finally {
      this.#endTransaction();
    }
  }

  /** Throws unless a transaction of this many bytes could be written. Changes nothing. */
  probe(bytes: number): void {
    // Another file, since the log's own files would stay as large.
    const path = `${this.#path}-probe`;
    try {
      writeFileSync(path, Buffer.alloc(bytes), { flush: true });
    } finally {
      rmSync(path, { force: true });
    }
    this.transaction(() => this.#db.exec(marking(logFormat)));
  }

  /** Adds a row within the caller's transaction; throws for an existing sequence. */
  insert(
    sequence: Sequence, stream: string, revision: number, id: string, type: string, metadata: string, data: string,
  ): void {
    this.#insert.run(sequence, stream, revision, id, type, metadata, data);
  }

  /** The stream of a row, and whether it was deleted; undefined for an unknown sequence. */
  rowHead(sequence: Sequence): RowHead | undefined {
    const row = this.#rowHead.get(sequence) as { stream: string; type: string } | undefined;
    return row && { stream: row.stream, gone: row.type === "" };
  }

  row(sequence: Sequence, stream: string): Row | undefined {
    return this.#row.get(sequence, stream) as unknown as Row | undefined;
  }

  empty(sequence: Sequence): void {
    this.#empty.run(sequence);
  }

  /** The last sequence given. Like {@link rowHeadsAfter}, throws an error that names a damaged file. */
  head(): Sequence {
    const select = this.#db.prepare("SELECT coalesce(max(sequence), 0) AS head FROM log");
    return inFile(this.#path, () => select.get())!["head"] as number;
  }

  *rowHeadsAfter(after: Sequence): Iterable<RowHead & Located> {
    const select = "SELECT sequence, stream, revision, type FROM log WHERE sequence > ? ORDER BY sequence";
    const rows = this.#db.prepare(select).iterate(after);
    const next = () => inFile(this.#path, () => rows.next());
    for (let row = next(); !row.done; row = next()) {
      const { sequence, stream, revision, type } = row.value as unknown as Located & { stream: string; type: string };
      yield { sequence, stream, revision, gone: type === "" };
    }
  }

  listedSegments(): ListedSegment[] {
    const select = "SELECT file, up_to AS upTo FROM segments ORDER BY up_to";
    return this.#db.prepare(select).all() as unknown as ListedSegment[];
  }

  /** Adds a segment to the manifest; its file must be complete and synced. */
  listSegment({ file, upTo }: ListedSegment): void {
    this.#db.prepare("INSERT INTO segments VALUES (?, ?)").run(file, upTo);
  }

  listMerged(file: string, inputs: readonly string[]): void {
    this.transaction(() => {
      const upTo = this.listedSegments().find((segment) => segment.file === inputs.at(-1))!.upTo;
      for (const input of inputs) this.#db.prepare("DELETE FROM segments WHERE file = ?").run(input);
      this.listSegment({ file, upTo });
    });
  }

  forgetSegments(): void {
    this.transaction(() => this.#db.exec("DELETE FROM segments"));
  }

  checkpoint(): void {
    moveWriteAheadLog(this.#db, this.#path);
  }

  unmovedPages(): number {
    const { log, checkpointed } = this.#db.prepare("PRAGMA wal_checkpoint(NOOP)").get() as Record<string, number>;
    return log! - checkpointed!;
  }

  /** Empties the write-ahead log, so that no old page stays in it; false if a reader is in the way. */
  truncate(patienceMs: number): boolean {
    this.#db.exec(`PRAGMA busy_timeout = ${patienceMs}`);
    try {
      return emptyWriteAheadLog(this.#db, this.#path);
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${lockPatienceMs}`);
    }
  }

  close(): void {
    this.#db.close();
  }

  /** Some failures have rolled back already. If this fails, too, the next transaction tries again. */
  #endTransaction(): void {
    if (this.#db.isTransaction) this.#rollback.run();
  }
}
