import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sync } from "../file-system/sync.ts";

/**
 * Copies a SQLite database as it stands at one moment, while others write to it; what they commit
 * meanwhile is not in the copy and waits for nothing. Durable under its name when it returns. Throws when
 * the target exists.
 */
export function copyDatabase(from: string, to: string): void {
  if (existsSync(to)) throw new Error(`${to} exists already`);
  const draft = `${to}.new`;
  rmSync(draft, { force: true });
  const source = new DatabaseSync(from, { readOnly: true });
  try {
    source.prepare("VACUUM INTO ?").run(draft);
  } finally {
    source.close();
  }
  sync(draft);
  renameSync(draft, to);
  sync(dirname(to));
}
