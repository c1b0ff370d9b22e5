import { writeSync } from "node:fs";

/** SQLite's code for a sync that failed. */
const sqliteSyncFailed = 1034;

/**
 * Runs what moves a write-ahead log into the file of its database, or syncs that file. Where a sync fails the process
 * ends at once, with a line on standard error: Linux tells of it once and takes for written what was not, so another
 * try would succeed, and the log that still has it would begin anew. It is killed, for an exit would close the
 * database, which moves and removes the log as well; the next start moves all of the log again.
 */
export function orEndUnsynced<Result>(file: string, task: () => Result): Result {
  try {
    return task();
  } catch (error) {
    endUnsynced(file, error);
  }
}

/** What {@link orEndUnsynced} does about an error; rethrows it. For whoever waits for a sync. */
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
