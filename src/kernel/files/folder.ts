import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { sync } from "./sync.ts";

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
