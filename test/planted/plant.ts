import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Change } from "./bug.ts";

const project = join(import.meta.dirname, "..", "..");
const leftOut = /^(node_modules|build|data|\.git|\.env|.*\.log)$/;

/** A copy of the project, for bugs to be planted in. */
export function scratchCopy(): { readonly root: string; readonly remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), "relay-planted-"));
  cpSync(project, root, { recursive: true, filter: (path) => !leftOut.test(relative(project, path)) });
  symlinkSync(join(project, "node_modules"), join(root, "node_modules"));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** Why changes do not apply to the source under `root`, the project itself by default; null when they do. */
export function obstacleTo(changes: readonly Change[], root = project): string | null {
  for (const change of changes) {
    const found = read(root, change).split(change.from).length - 1;
    if (found !== 1) return `${change.file} has what is to be changed ${found} times`;
    if (change.from === change.to) return `${change.file}: nothing is changed`;
  }
  return null;
}

/** Changes the source under `root`; the result takes the changes back. Throws when they do not apply. */
export function plant(changes: readonly Change[], root: string): () => void {
  const obstacle = obstacleTo(changes, root);
  if (obstacle !== null) throw new Error(`no longer applies: ${obstacle}`);
  const originals = new Map<string, string>();
  for (const change of changes) {
    const path = join(root, change.file);
    const text = read(root, change);
    if (!originals.has(path)) originals.set(path, text);
    writeFileSync(path, text.replace(change.from, () => change.to));
  }
  return () => {
    for (const [path, text] of originals) writeFileSync(path, text);
  };
}

function read(root: string, { file }: Change): string {
  return readFileSync(join(root, file), "utf8");
}
