import { randomUUID } from "node:crypto";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../../../../src/kernel/ports/clock.ts";
import {
  ExpiringStateUnavailable, kindOf, usualMost, type ExpiringState, type RateLimit, type RateLimitSlot, type Tally,
  type TallyLimits,
} from "../../../../src/kernel/ports/expiring-state.ts";
import { remote, type MethodsOf, type Remote } from "../../../../src/kernel/threads/calls.ts";
import type { Converter } from "../sqlite/conversion.ts";
import { formatIn, marking, requireFormat, type FileFormat } from "../sqlite/file-format.ts";
import { Statements } from "../sqlite/statements.ts";

/** The format of the state's file. */
export const stateFormat: FileFormat = { version: 1, release: "0.1.0" };
export const stateConverters: readonly Converter[] = [];

/** {@link kindOf} in SQL. */
const kind = "substr(key, 1, instr(key, ':'))";

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, expires_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS entries_by_end ON entries (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS admissions (
    key TEXT, ticket TEXT, expires_at INTEGER NOT NULL, PRIMARY KEY (key, ticket)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS admissions_by_end ON admissions (expires_at);
  CREATE INDEX IF NOT EXISTS admissions_by_kind ON admissions (${kind}, expires_at);
  CREATE TABLE IF NOT EXISTS tallies (
    list TEXT, id TEXT, count INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
    value TEXT NOT NULL, expires_at INTEGER NOT NULL, PRIMARY KEY (list, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS tallies_by_time ON tallies (list, last_at, id);
  CREATE INDEX IF NOT EXISTS tallies_by_end ON tallies (expires_at);
  ${marking(stateFormat)}
`;

const addition = `
  INSERT INTO tallies VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    count = count + excluded.count, first_at = min(first_at, excluded.first_at),
    last_at = max(last_at, excluded.last_at), value = excluded.value, expires_at = excluded.expires_at
`;
const surplusTallies = `
  DELETE FROM tallies WHERE (list, id) IN (
    SELECT list, id FROM tallies WHERE list = ? ORDER BY last_at DESC, id DESC LIMIT -1 OFFSET ?
  )
`;

const valueKey = (key: string) => `value/${key}`;
const leaseKey = (name: string) => `lease/${name}`;

/** Expired rows deleted per table and write: more than a write adds. */
const sweptRows = 8;

/** Expiring state in one SQLite file, for one thread, which finishes each call before the next. Time is wall time. */
export class SqliteExpiringState implements ExpiringState {
  readonly #database: DatabaseSync;
  readonly #clock: Pick<Clock, "now">;
  readonly #mostAdmissions: number;
  readonly #statements: Statements;
  #admissions: Map<string, number>;

  /** `mostAdmissions`: of each kind; the default takes some 50 MB. Throws if the file has another version. */
  constructor(file: string, clock: Pick<Clock, "now">, { mostAdmissions = usualMost } = {}) {
    this.#database = new DatabaseSync(file);
    requireFormat(formatIn(this.#database), stateFormat);
    this.#database.exec(schema);
    this.#statements = new Statements(this.#database);
    this.#clock = clock;
    this.#mostAdmissions = mostAdmissions;
    this.#admissions = this.#counted();
  }

  async get(keys: readonly string[]): Promise<readonly (string | null)[]> {
    const now = this.#clock.now();
    return this.#reachable(() => keys.map((key) => this.#value(valueKey(key), now)));
  }

  async put(key: string, value: string, ttlMs: number | null): Promise<void> {
    // A revoked token must survive a loss of power; a throttle may lose its last counts.
    this.#reachable(() => this.#database.exec("PRAGMA synchronous = FULL"));
    try {
      this.#write((now) => this.#put(valueKey(key), value, ttlMs === null ? null : now + ttlMs));
    } finally {
      this.#database.exec("PRAGMA synchronous = NORMAL");
    }
  }

  async admit(keys: readonly string[], { max, windowMs }: RateLimit): Promise<RateLimitSlot | null> {
    return this.#write((now) => {
      // An admission that ends later was made before the clock was set back.
      const counted = "SELECT count(*) AS counted FROM admissions WHERE key = ? AND expires_at > ? AND expires_at <= ?";
      const admitted = (key: string) => Number(this.#statements.of(counted).get(key, now, now + windowMs)?.["counted"]);
      if (keys.some((key) => admitted(key) >= max)) return null;
      const slot = { id: randomUUID(), keys };
      const insert = "INSERT OR IGNORE INTO admissions VALUES (?, ?, ?)";
      for (const key of keys) this.#count(kindOf(key), this.#run(insert, key, slot.id, now + windowMs));
      for (const each of new Set(keys.map(kindOf))) this.#dropOldest(each);
      return slot;
    });
  }

  async forgive({ id, keys }: RateLimitSlot): Promise<void> {
    this.#write(() => {
      for (const key of keys) {
        this.#count(kindOf(key), -this.#run("DELETE FROM admissions WHERE key = ? AND ticket = ?", key, id));
      }
    });
  }

  async lease(name: string, owner: string, ttlMs: number): Promise<boolean> {
    return this.#write((now) => {
      const holder = this.#value(leaseKey(name), now);
      if (holder !== null && holder !== owner) return false;
      this.#put(leaseKey(name), owner, now + ttlMs);
      return true;
    });
  }

  async release(name: string, owner: string): Promise<void> {
    this.#write(() => this.#run("DELETE FROM entries WHERE key = ? AND value = ?", leaseKey(name), owner));
  }

  async tally(additions: readonly Tally[], { most, ttlMs }: TallyLimits): Promise<void> {
    this.#write((now) => {
      for (const { list, id, count, firstAt, lastAt, value } of additions) {
        this.#run(addition, list, id, count, firstAt, lastAt, value, now + ttlMs);
      }
      for (const list of new Set(additions.map((one) => one.list))) this.#run(surplusTallies, list, most);
    });
  }

  async tallies(list: string): Promise<readonly Tally[]> {
    const sql = `
      SELECT list, id, count, first_at AS firstAt, last_at AS lastAt, value FROM tallies
      WHERE list = ? AND expires_at > ? ORDER BY last_at DESC, id DESC
    `;
    const now = this.#clock.now();
    return this.#reachable(() => this.#statements.of(sql).all(list, now) as unknown as readonly Tally[]);
  }

  async dropTallies(list: string): Promise<void> {
    this.#write(() => this.#run("DELETE FROM tallies WHERE list = ?", list));
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  #value(key: string, now: number): string | null {
    const sql = "SELECT value FROM entries WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)";
    return (this.#statements.of(sql).get(key, now)?.["value"] as string | undefined) ?? null;
  }

  #put(key: string, value: string, expiresAt: number | null): void {
    this.#run("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", key, value, expiresAt);
  }

  /** One transaction, which also deletes some expired rows. */
  #write<Result>(change: (now: number) => Result): Result {
    const now = this.#clock.now();
    const before = new Map(this.#admissions);
    return this.#reachable(() => {
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        this.#sweep(now);
        const result = change(now);
        this.#database.exec("COMMIT");
        return result;
      } catch (error) {
        this.#admissions = before;
        // On a full disk SQLite has rolled back by itself.
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  #sweep(now: number): void {
    const expired = `WHERE expires_at <= ? ORDER BY expires_at LIMIT ${sweptRows}`;
    this.#run(`DELETE FROM entries WHERE key IN (SELECT key FROM entries ${expired})`, now);
    this.#run(`DELETE FROM tallies WHERE (list, id) IN (SELECT list, id FROM tallies ${expired})`, now);
    const admissions = `SELECT key, ticket FROM admissions ${expired}`;
    const swept = `DELETE FROM admissions WHERE (key, ticket) IN (${admissions}) RETURNING ${kind} AS kind`;
    for (const row of this.#statements.of(swept).all(now)) this.#count(row["kind"] as string, -1);
  }

  #counted(): Map<string, number> {
    const counted = this.#statements.of(`SELECT ${kind} AS kind, count(*) AS counted FROM admissions GROUP BY 1`).all();
    return new Map(counted.map((row) => [row["kind"] as string, Number(row["counted"])]));
  }

  #count(of: string, more: number): void {
    this.#admissions.set(of, (this.#admissions.get(of) ?? 0) + more);
  }

  #dropOldest(of: string): void {
    const surplus = (this.#admissions.get(of) ?? 0) - this.#mostAdmissions;
    if (surplus <= 0) return;
    const oldest = `SELECT key, ticket FROM admissions WHERE ${kind} = ? ORDER BY expires_at LIMIT ?`;
    this.#count(of, -this.#run(`DELETE FROM admissions WHERE (key, ticket) IN (${oldest})`, of, surplus));
  }

  #reachable<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw new ExpiringStateUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  #run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statements.of(sql).run(...values).changes);
  }
}

const methods: MethodsOf<ExpiringState> = {
  get: true, put: true, admit: true, forgive: true, lease: true, release: true, tally: true, tallies: true,
  dropTallies: true,
};

/** A client of the expiring state that another thread serves. */
export function remoteExpiringState(port: MessagePort): Remote<ExpiringState> {
  return remote(port, methods, (message) => new ExpiringStateUnavailable(message));
}
