import { logStart, type LogEntry, type Position } from "../../kernel/ports/event-store.ts";
import type { Connection } from "./connection.ts";
import { pairOf } from "./positions.ts";
import { read, readRecords } from "./reading.ts";
import { bytesOf, isSystem, type StoredRecord } from "./records.ts";
import { readAllRequest } from "./requests.ts";
import type { Tuning } from "./tuning.ts";

const pageRecords = 512;
/** Pages without an entry that `read` examines before it returns. */
const pagesAtOnce = 16;
/** Records that `head` reads at once, at first and at most: the newest is usually an entry. */
const firstTail = 1;
const longestTail = 1024;

export class LogReader {
  readonly #connection: Connection;
  readonly #tuning: Tuning;
  readonly #entry: (record: StoredRecord) => LogEntry | undefined;
  #newest: Position = logStart;
  /** Up to here, all records after `#newest` are the server's own. */
  #searched: Position = logStart;

  /** Reads $all. `entry`: undefined for records of other applications. */
  constructor(connection: Connection, tuning: Tuning, entry: (record: StoredRecord) => LogEntry | undefined) {
    this.#connection = connection;
    this.#tuning = tuning;
    this.#entry = entry;
  }

  get newest(): Position {
    return this.#newest;
  }

  learn(position: Position): void {
    if (position > this.#newest) this.#newest = position;
  }

  /** The newest position of a record that is not the server's own. Never decreases. */
  async head(): Promise<Position> {
    let from: Position | undefined;
    let first: Position | undefined;
    for (let limit = firstTail; ; limit = Math.min(8 * limit, longestTail)) {
      const request = readAllRequest(from === undefined ? undefined : pairOf(from), limit, true);
      const records = await readRecords(this.#connection, request, this.#tuning.readMs);
      first ??= records[0]?.position;
      from = records.at(-1)?.position ?? from;
      const found = records.find((record) => !isSystem(record));
      if (found) this.learn(found.position);
      if (found || records.length < limit || from === undefined || from <= this.#searched) break;
    }
    if (first !== undefined && first > this.#searched) this.#searched = first;
    return this.#newest;
  }

  async read(after: Position, limit: number): Promise<{ readonly entries: LogEntry[]; readonly upTo: Position }> {
    const entries: LogEntry[] = [];
    let upTo = after;
    for (let pages = 0; limit > 0 && entries.length === 0 && pages < pagesAtOnce; pages++) {
      const before = upTo;
      for (const record of await this.page(upTo)) {
        if (entries.length === limit) break;
        upTo = record.position;
        const entry = this.#entry(record);
        if (entry) entries.push(entry);
      }
      if (upTo === before) break;
    }
    return { entries, upTo };
  }

  /** Records after a position, the server's own included, up to a size. */
  async page(after: Position): Promise<readonly StoredRecord[]> {
    const records: StoredRecord[] = [];
    let bytes = 0;
    // The read includes the record at the position itself.
    const request = readAllRequest(after === logStart ? undefined : pairOf(after), pageRecords + 1, false);
    await read(this.#connection, request, this.#tuning.readMs, (record) => {
      if (record.position <= after) return true;
      records.push(record);
      bytes += bytesOf(record);
      return bytes < this.#tuning.pageBytes;
    });
    return records;
  }

  async end(deadlineMs: number): Promise<Position> {
    const [newest] = await readRecords(this.#connection, readAllRequest(undefined, 1, true), deadlineMs);
    return newest?.position ?? logStart;
  }
}
