import { closeSync, fsyncSync, openSync } from "node:fs";

/** Makes a file durable, or the names in a folder. */
export function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
