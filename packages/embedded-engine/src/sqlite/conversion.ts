import { createHash } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { orEndUnsynced, fileProblem, inFile, sync } from "../../../../src/kernel/files.ts";
import type { Instruments } from "../../../../src/kernel/ports/telemetry.ts";
import { formatIn, formatOf, marking, requireNotNewer, type FileFormat } from "./file-format.ts";

/** Makes a file of one format from the version before. */
export interface Converter {
  readonly makes: FileFormat;
  /**
   * Fills the database from the attached `old` one, a transaction per step. Yields the share done, 0 to 1. After a kill
   * it is called again and continues after the last step.
   */
  readonly steps: (database: DatabaseSync) => Iterable<number>;
}

/** A file that cannot be rebuilt from others. */
export interface KeptFile {
  readonly path: string;
  readonly format: FileFormat;
  /** One for each released version after the first, oldest first. */
  readonly converters: readonly Converter[];
}

type Telling = Pick<Instruments, "clock" | "logger">;

const tellEveryMs = 10_000;
const lockPatienceMs = 1000;
const draftName = /^(.+)\.[0-9a-f]{16}\.converting(-journal)?$/;

/**
 * Brings files to their formats, in the process that holds the data folder, after checking that all are readable. Each
 * is converted into a draft, which replaces it; after a kill the next call continues the draft. Errors name the file.
 */
export async function bringUp(files: readonly KeptFile[], telling: Telling): Promise<void> {
  const due = files.map((file) => [file.path, inFile(file.path, () => convertersFor(file))] as const);
  for (const [path, converters] of due) {
    if (converters.length === 0) removeDrafts(path);
    for (const converter of converters) await convert(path, converter, telling);
  }
}

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
      // Lets the process handle signals to end.
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
  // An exclusive lock spares a new journal for each step. Gaps in pages must not hold copies of rows, out of reach of
  // later deletions.
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
    // IMMEDIATE would also begin to write the old file.
    database.exec("BEGIN");
    const step = iterator.next();
    database.exec("COMMIT");
    if (step.done) return;
    yield step.value;
  }
}

/** The draft that replaces the file must not find a foreign log. Throws if another program has the file open. */
function endWriteAheadLog(path: string): void {
  const database = inFile(path, () => new DatabaseSync(path, { timeout: lockPatienceMs }));
  try {
    inFile(path, () => orEndUnsynced(path, () => database.exec("PRAGMA journal_mode = DELETE")));
  } finally {
    database.close();
  }
}

/** A draft's path depends on the file's state, so that a changed file does not use an old draft. */
function draftOf(path: string, version: number): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  const state = createHash("sha256").update([version, ino, size, mtimeNs].join(" ")).digest("hex").slice(0, 16);
  return `${path}.${state}.converting`;
}

/** Removes drafts but one: their entries may have been deleted from the file since. */
function removeDrafts(path: string, kept: string | null = null): void {
  const folder = dirname(path);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const isKept = kept !== null && name.startsWith(basename(kept));
    if (draftName.exec(name)?.[1] === basename(path) && !isKept) rmSync(join(folder, name));
  }
}
