import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A JSON Schema, or a part of one. */
export type Schema = Readonly<Record<string, unknown>>;

/**
 * The schemas of facts in a checkout by `<type>.v<version>`, and the one of `metadata`: those of earlier versions are
 * files in `schemas/events`, those written now are declared in `src/features`. Releases before 0.3 have files only.
 */
export async function factSchemas(checkout: string): Promise<ReadonlyMap<string, Schema>> {
  const folder = join(checkout, "schemas/events");
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  const earlier = files.map((file) =>
    [file.replace(/\.json$/, ""), JSON.parse(readFileSync(join(folder, file), "utf8")) as Schema] as const);
  const registry = join(checkout, "src/features/facts.ts");
  if (!existsSync(registry)) return new Map(earlier);
  const { facts, schemaOf, versionOf } = await import(registry) as typeof import("../src/features/facts.ts");
  const written = [...facts].map(([type, fact]) => [`${type}.v${versionOf(fact)}`, schemaOf(type, fact)] as const);
  return new Map([...earlier, ...written]);
}
