import { lockDataFolder } from "../../../../packages/embedded-engine/src/sqlite/data-folder-lock.ts";

/** Locks the given folder, unlocks it, and prints "locked" or the error. */
try {
  lockDataFolder(process.argv[2]!)();
  process.stdout.write("locked");
} catch (error) {
  process.stdout.write((error as Error).message);
}
