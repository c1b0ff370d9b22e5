import { readdirSync, readFileSync } from "node:fs";
import { facts, versionOf } from "../../src/features/facts.ts";
import type { Metadata } from "../../src/kernel/domain/domain-event.ts";

/** A fact as the log has it. */
export interface StoredFact {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Metadata & { readonly schemaVersion: number };
}

const folder = new URL("../facts/", import.meta.url);

/** `<type>.v<version>` of every version of a fact that was ever stored. */
export const storedVersions: readonly string[] = readdirSync(folder).map((file) => file.replace(/\.json$/, "")).sort();

/** The stored examples of a fact in a version, by default the written one. */
export function examplesOf(
  type: string, version: number = versionOf(facts.get(type)!),
): readonly [StoredFact, ...StoredFact[]] {
  return JSON.parse(readFileSync(new URL(`${type}.v${version}.json`, folder), "utf8")) as ReturnType<typeof examplesOf>;
}
