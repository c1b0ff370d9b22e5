import { lockDataFolder } from "../../../../../src/adapters/embedded/sqlite/data-folder-lock.ts";

/** Locks the folder named, unlocks it, and prints how that went. */
try {
  lockDataFolder(process.argv[2]!)();
  process.stdout.write("locked");
} catch (error) {
  process.stdout.write((error as Error).message);
}
