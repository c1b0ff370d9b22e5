import { readdirSync, readFileSync } from "node:fs";
import { facts, versionOf } from "../../src/features/facts.ts";
import type { Metadata } from "../../src/kernel/domain/domain-event.ts";

/** A fact as the log has it. */
export interface StoredFact {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Metadata & { readonly schemaVersion: number };
}

type Examples = readonly [StoredFact, ...StoredFact[]];

const folder = new URL("../facts/", import.meta.url);
const examplesIn = (file: string) =>
  JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Readonly<Record<string, Examples>>;
const stored = new Map(readdirSync(folder).flatMap((file) => Object.entries(examplesIn(file))));

/** `<type>.v<version>` of every version of a fact that was ever stored. */
export const storedVersions: readonly string[] = [...stored.keys()].sort();

/** The stored examples of a fact in a version, by default the written one. */
export function examplesOf(type: string, version: number = versionOf(facts.get(type)!)): Examples {
  return stored.get(`${type}.v${version}`)!;
}
