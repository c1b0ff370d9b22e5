import { randomUUID } from "node:crypto";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inFile, sync } from "../../../../src/kernel/files.ts";

/**
 * Copies SQLite databases from one folder to another, in their order, each in its state of one moment. Others may write
 * meanwhile: their commits are not in the copy, and do not wait for it. The copies get their names only when all are
 * complete and durable: a failure before that leaves none. Throws where one is in the target already. Each draft has a
 * unique name: two copies begun into one folder must not write into each other's drafts.
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
    // Otherwise gaps in the copy's pages would hold copies of rows, out of reach when the rows are deleted.
    inFile(from, () => source.exec("PRAGMA secure_delete = ON"));
    inFile(`${from} to ${to}`, () => source.prepare("VACUUM INTO ?").run(to));
  } finally {
    source.close();
  }
  sync(to);
}
