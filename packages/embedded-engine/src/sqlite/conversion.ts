import { createHash } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { orEndUnsynced, fileProblem, inFile, sync } from "../../../../src/kernel/files.ts";
import type { Instruments } from "../../../../src/kernel/ports/telemetry.ts";
import { formatIn, formatOf, marking, requireNotNewer, type FileFormat } from "./file-format.ts";

/** Makes a file of one format from a file of the version before. */
export interface Converter {
  readonly makes: FileFormat;
  /**
   * Fills the database step by step from the older file, which is attached to it as `old`. Each step runs in a
   * transaction of its own, so its size bounds the memory and the work that a kill costs. Yields the share that is
   * done, 0 to 1. After a kill it is called again, and goes on after the last committed step.
   */
  readonly steps: (database: DatabaseSync) => Iterable<number>;
}

/** A file that cannot be made again from others. */
export interface KeptFile {
  readonly path: string;
  readonly format: FileFormat;
  /** One for each version that a release had after the first, the oldest first. */
  readonly converters: readonly Converter[];
}

type Telling = Pick<Instruments, "clock" | "logger">;

/** How often the log tells how far a conversion is. */
const tellEveryMs = 10_000;
/** How long another program may have the file open before that is an error. */
const lockPatienceMs = 1000;
/** Names of drafts, and of SQLite's journals for them. */
const draftName = /^(.+)\.[0-9a-f]{16}\.converting(-journal)?$/;

/**
 * Brings files to their formats, for the process that holds the data folder. Nothing is written before all of them are
 * known to be readable. A file is converted into a draft beside it, which takes its place when it is whole. After a
 * kill the next call goes on with the draft, unless the file has changed since. Rejects where a file is of a version
 * that this release cannot read, and where a conversion fails, with an error that names the file.
 */
export async function bringUp(files: readonly KeptFile[], telling: Telling): Promise<void> {
  const due = files.map((file) => [file.path, inFile(file.path, () => convertersFor(file))] as const);
  for (const [path, converters] of due) {
    if (converters.length === 0) removeDrafts(path);
    for (const converter of converters) await convert(path, converter, telling);
  }
}

/** The converters that the file needs, in order. */
function convertersFor({ path, format, converters }: KeptFile): readonly Converter[] {
  const found = formatOf(path);
  requireNotNewer(found, format);
  if (!found) return [];
  const needed = converters.filter(({ makes }) => makes.version > found.version);
  if (needed.length === format.version - found.version) return needed;
  throw new Error(`is of version ${found.version}, which this release cannot bring to version ${format.version}`);
}

async function convert(path: string, converter: Converter, telling: Telling): Promise<void> {
  const { clock, logger } = telling;
  const { version } = converter.makes;
  const fields = { file: path, version };
  const begunAt = clock.monotonic();
  logger.info({ ...fields, bytes: statSync(path).size }, "converting a file of an older release");
  endWriteAheadLog(path);
  const draft = draftOf(path, version);
  removeDrafts(path, draft);
  try {
    await fill(draft, path, converter, telling);
    sync(draft);
  } catch (error) {
    // The disk may be full.
    removeDrafts(path);
    throw fileProblem(`${path} cannot be brought to version ${version}`, error);
  }
  renameSync(draft, path);
  sync(dirname(path));
  logger.info({ ...fields, seconds: (clock.monotonic() - begunAt) / 1000 }, "converted the file");
}

/** Completes a draft from the old file, from where a kill left it. */
async function fill(
  draft: string, old: string, { makes, steps }: Converter, { clock, logger }: Telling,
): Promise<void> {
  const database = new DatabaseSync(draft);
  try {
    prepare(database, old);
    if (formatIn(database)?.version === makes.version) return;
    let toldAt = clock.monotonic();
    for (const share of inTransactions(database, steps(database))) {
      if (clock.monotonic() - toldAt >= tellEveryMs) {
        toldAt = clock.monotonic();
        const percent = Math.floor(share * 100);
        logger.info({ file: old, version: makes.version, percent }, "still converting the file");
      }
      // Signals to end are handled here.
      await nextTurn();
    }
    database.exec(`BEGIN; ${marking(makes)} COMMIT;`);
  } finally {
    database.close();
  }
}

function prepare(database: DatabaseSync, old: string): void {
  database.prepare("ATTACH ? AS old").run(old);
  const size = database.prepare("PRAGMA old.page_size").get()?.["page_size"];
  // With an exclusive lock SQLite does not create the journal again for each step. Gaps in pages must not hold copies
  // of rows: these would be out of reach when the rows are deleted.
  database.exec(`
    PRAGMA main.locking_mode = EXCLUSIVE;
    PRAGMA main.page_size = ${Number(size)};
    PRAGMA main.synchronous = FULL;
    PRAGMA main.secure_delete = ON;
  `);
}

function* inTransactions(database: DatabaseSync, steps: Iterable<number>): Generator<number, void> {
  const iterator = steps[Symbol.iterator]();
  for (;;) {
    // Not IMMEDIATE, which would begin to write the old file as well.
    database.exec("BEGIN");
    const step = iterator.next();
    database.exec("COMMIT");
    if (step.done) return;
    yield step.value;
  }
}

/**
 * Moves the file's write-ahead log into it, and leaves the file without one: the draft that takes the file's place must
 * not find a log that is not its own. Throws where another program has the file open.
 */
function endWriteAheadLog(path: string): void {
  const database = inFile(path, () => new DatabaseSync(path, { timeout: lockPatienceMs }));
  try {
    inFile(path, () => orEndUnsynced(path, () => database.exec("PRAGMA journal_mode = DELETE")));
  } finally {
    database.close();
  }
}

/** The path of a draft of the file in its present state: a changed file has another, so an old draft is not used. */
function draftOf(path: string, version: number): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  const state = createHash("sha256").update([version, ino, size, mtimeNs].join(" ")).digest("hex").slice(0, 16);
  return `${path}.${state}.converting`;
}

/** Removes the file's drafts, but for one: entries in them may have been deleted from the file since. */
function removeDrafts(path: string, kept: string | null = null): void {
  const folder = dirname(path);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const isKept = kept !== null && name.startsWith(basename(kept));
    if (draftName.exec(name)?.[1] === basename(path) && !isKept) rmSync(join(folder, name));
  }
}
