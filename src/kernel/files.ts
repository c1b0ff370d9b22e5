import { closeSync, fsyncSync, openSync, mkdirSync, statSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Adds the file's name to errors: SQLite's own lack it. */
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

/** Makes a file, or the names in a folder, durable. */
export function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function makeFolder(path: string): void {
  const folder = resolve(path);
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!isFolder(folder)) throw error;
  }
  sync(parent);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

const sqliteSyncFailed = 1034;

/**
 * Runs a task that syncs or checkpoints. A failed sync kills the process, which keeps the log: Linux reports a failed
 * write-back only once, so a retry would lose data, and an exit would close the database and remove its log.
 */
export function orEndUnsynced<Result>(file: string, task: () => Result): Result {
  try {
    return task();
  } catch (error) {
    endUnsynced(file, error);
  }
}

/** Like {@link orEndUnsynced}, for the error of an awaited sync. */
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
