import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { Schema } from "../../../src/kernel/operations/description.ts";
import { apiDocument, operations } from "../../support/document.ts";

const text = readFileSync(new URL("../../../docs/api.md", import.meta.url), "utf8");
/** The rows of the tables, by their first cell. */
const rows = new Map(
  text.split("\n").filter((line) => line.startsWith("|")).map((line) => {
    const [first = "", ...rest] = line.split("|").slice(1, -1).map((cell) => cell.trim());
    return [first, rest] as const;
  }),
);
/** A field of the body or query of an operation, by their names. */
function fieldOf(id: string, name: string): Schema {
  const operation = operations.find((one) => one.id === id);
  const schema = (operation?.body ?? operation?.query)?.schema as Schema | undefined;
  return schema?.properties?.[name] ?? expect.fail(`no ${name} in ${id}`);
}

describe("docs/api.md", () => {
  it("shows the sort fields of each list, and the default order", () => {
    const lists = operations.filter(({ query }) => query && "CpOrd" in (query.schema as Schema).properties!);
    expect(lists).to.have.length.greaterThan(20);
    for (const { id } of lists) {
      const list = id.endsWith("History") ? "History" : id.replace(/^list/, "");
      const name = list.replace(/(?<=.)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
      const { enum: fields = [], default: first } = fieldOf(id, "CpOrd");
      const others = fields.filter((field) => field !== first);
      const shown = [first, ...others].map((field) => `\`${String(field)}\``).join(", ");
      expect(rows.get(name), name).to.deep.equal([shown, `\`${String(fieldOf(id, "TpOrd").default)}\``]);
    }
  });

  it("shows the actual limits", () => {
    const limited = {
      maxTrys: "updateTenant", circuitBreakerTimer: "createTenant", serverRateLimit: "createDestination",
      retentionDays: "updateTenant", Qt: "listEvents", Pg: "listUsers",
    };
    for (const [name, id] of Object.entries(limited)) {
      const { minimum, maximum } = fieldOf(id, name);
      const range = `${minimum?.toLocaleString("en")} to ${maximum?.toLocaleString("en")}`;
      expect(rows.get(`\`${name}\``)?.[0], name).to.match(new RegExp(`^${range}\\b`));
    }
    const texts = { URL: fieldOf("createDestination", "url"), email: fieldOf("createUser", "email") };
    for (const [name, { maxLength }] of Object.entries(texts)) {
      expect(rows.get(name)).to.deep.equal([`${maxLength?.toLocaleString("en")} characters`]);
    }
  });

  it("names existing paths only", () => {
    const known = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
    const spoken = [...text.matchAll(/`((?:GET|POST|PATCH|DELETE) [^`]+)`/g)].map(([, operation = ""]) => operation);
    expect(spoken).to.have.length.greaterThan(2);
    expect(known).to.include.members(spoken);
  });
});
