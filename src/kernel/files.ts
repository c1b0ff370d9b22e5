import { closeSync, fsyncSync, openSync, mkdirSync, statSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Runs an action on a file, so that its error names the file: SQLite's own does not. */
export function inFile<Result>(path: string, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw fileProblem(path, error);
  }
}

/** An error that names its file. */
export function fileProblem(path: string, error: unknown): Error {
  return new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}

/** Makes a file durable, or the names in a folder. */
export function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Makes a folder and its missing parents durable, for this user alone. One by one: each is synced in the one above it,
 * and Node's recursive mkdir retries for ever where an existing folder, such as `/proc`, takes no new one.
 */
export function makeFolder(path: string): void {
  const folder = resolve(path);
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another thread or process may have been first.
    if (!isFolder(folder)) throw error;
  }
  sync(parent);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** SQLite's code for a sync that failed. */
const sqliteSyncFailed = 1034;

/**
 * Runs a task that moves a write-ahead log into the file of its database, or syncs it. Where a sync fails the process
 * ends at once, with a line on standard error, and the next start moves all of the log again. To try again here would
 * lose data: Linux reports a failed write-back once and then takes the pages for written, so the next sync would
 * succeed, and the log, which alone still has them, would start over. The process is killed because an exit would close
 * the database, and closing it moves and removes the log as well.
 */
export function orEndUnsynced<Result>(file: string, task: () => Result): Result {
  try {
    return task();
  } catch (error) {
    endUnsynced(file, error);
  }
}

/** Handles an error of an awaited sync as {@link orEndUnsynced} does: ends the process, or rethrows. */
export function endUnsynced(file: string, error: unknown): never {
  if (isFailedSync(error)) {
    try {
      writeSync(2, `${file} could not be synced, so the relay ends before its log is let go: ${error.message}\n`);
    } finally {
      // Standard error may be on the same disk.
      process.kill(process.pid, "SIGKILL");
    }
  }
  throw error;
}

function isFailedSync(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { syscall, errcode } = error as { readonly syscall?: unknown; readonly errcode?: unknown };
  return syscall === "fsync" || errcode === sqliteSyncFailed;
}
