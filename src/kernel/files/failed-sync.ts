import { writeSync } from "node:fs";

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
