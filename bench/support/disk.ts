import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Bytes that a process has read from the disk so far, without those from the page cache. Linux only. */
export function bytesRead(pid: number): number {
  return Number(/^read_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

/** Bytes of all files in a folder and those in it. */
export function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
