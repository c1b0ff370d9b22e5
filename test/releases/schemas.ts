import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The schemas of facts in a checkout, by the names of their files without the ending: JSON with a schema a line. */
export function factSchemas(checkout: string): string {
  const lines = globSync(join(checkout, "schemas/events/*.json")).sort().map((path) => {
    const schema = JSON.stringify(JSON.parse(readFileSync(path, "utf8")));
    return `${JSON.stringify(basename(path, ".json"))}: ${schema}`;
  });
  return `{\n${lines.join(",\n")}\n}\n`;
}
