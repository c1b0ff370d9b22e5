import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A row of the log as it stands in its file. */
export interface LogRow {
  readonly type: string;
  readonly metadata: string;
  readonly data: string;
}

/** The log file of a relay that is not running, for tests that damage it. */
export class SpoiledLog {
  readonly #file: DatabaseSync;

  constructor(dataDir: string) {
    this.#file = new DatabaseSync(join(dataDir, "log.db"));
  }

  /** The newest row of a stream. */
  last(stream: string): LogRow & { readonly revision: number } {
    const select = "SELECT type, metadata, data, revision FROM log WHERE stream = ? ORDER BY sequence DESC LIMIT 1";
    const row = this.#file.prepare(select).get(stream);
    if (!row) throw new Error(`no stream ${stream}`);
    return row as unknown as LogRow & { readonly revision: number };
  }

  /** Adds a row to a stream, a new one or not, as if somebody had written it. */
  plant(stream: string, { type, metadata, data }: LogRow): void {
    const { head, revision } = this.#file
      .prepare("SELECT max(sequence) AS head, max(revision) FILTER (WHERE stream = ?) AS revision FROM log")
      .get(stream) as { head: number; revision: number | null };
    this.#file.prepare("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)")
      .run(head + 1, stream, (revision ?? -1) + 1, randomUUID(), type, metadata, data);
  }

  /** Damages the first row of a stream in place. */
  spoilFirst(stream: string): void {
    this.#file.prepare("UPDATE log SET data = '{' WHERE stream = ? AND revision = 0").run(stream);
  }

  close(): void {
    this.#file.close();
  }
}
