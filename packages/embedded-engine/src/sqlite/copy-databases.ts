import { randomUUID } from "node:crypto";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inFile, sync } from "../../../../src/kernel/files.ts";

/**
 * Copies SQLite databases between folders, each at one moment, without delaying its writers. Copies get their names
 * when all are durable. Throws if the target has one already. Draft names are unique, since copies may be concurrent.
 */
export function copyDatabases(names: readonly string[], from: string, to: string): void {
  const copies = names.map((name) =>
    ({ source: join(from, name), draft: join(to, `${name}.${randomUUID()}.new`), target: join(to, name) }));
  const requireFree = () => {
    for (const { target } of copies) if (existsSync(target)) throw new Error(`${target} exists already`);
  };
  requireFree();
  try {
    for (const { source, draft } of copies) copyDatabase(source, draft);
    requireFree();
    for (const { draft, target } of copies) renameSync(draft, target);
    sync(to);
  } finally {
    for (const { draft } of copies) rmSync(draft, { force: true });
  }
}

function copyDatabase(from: string, to: string): void {
  const source = inFile(from, () => new DatabaseSync(from, { readOnly: true }));
  try {
    // Gaps in the copy's pages must not hold copies of rows, out of reach of later deletions.
    inFile(from, () => source.exec("PRAGMA secure_delete = ON"));
    inFile(`${from} to ${to}`, () => source.prepare("VACUUM INTO ?").run(to));
  } finally {
    source.close();
  }
  sync(to);
}
