import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bug, Change } from "./bugs.ts";

/** Why a bug does not apply to the source under `root`; null when it does. */
export function obstacleTo({ changes }: Bug, root: string): string | null {
  for (const change of changes) {
    const found = read(root, change).split(change.from).length - 1;
    if (found !== 1) return `${change.file} has what is to be changed ${found} times`;
    if (change.from === change.to) return `${change.file}: nothing is changed`;
  }
  return null;
}

/** Plants a bug in the source under `root`; answers how to take it out again. Throws when it does not apply. */
export function plant(bug: Bug, root: string): () => void {
  const obstacle = obstacleTo(bug, root);
  if (obstacle !== null) throw new Error(`${bug.name} no longer applies: ${obstacle}`);
  const originals = new Map<string, string>();
  for (const change of bug.changes) {
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
