import { factSchemas } from "../../scripts/fact-schemas.ts";

/** The schemas of facts in a checkout, by `<type>.v<version>`: JSON with a schema a line. */
export async function schemaRecord(checkout: string): Promise<string> {
  const schemas = [...await factSchemas(checkout)].sort(([one], [other]) => (one < other ? -1 : 1));
  return `{\n${schemas.map(([name, schema]) => `${JSON.stringify(name)}: ${JSON.stringify(schema)}`).join(",\n")}\n}\n`;
}
