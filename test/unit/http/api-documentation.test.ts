import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { Schema } from "../../../src/http/openapi/schemas.ts";
import { bodies } from "../../../src/http/requests/body-schemas.ts";
import { historyLists, lists } from "../../../src/http/requests/list-queries.ts";
import { apiDocument } from "../../support/document.ts";

const text = readFileSync(new URL("../../../docs/api.md", import.meta.url), "utf8");
/** The rows of the tables, by their first cell. */
const rows = new Map(
  text.split("\n").filter((line) => line.startsWith("|")).map((line) => {
    const [first = "", ...rest] = line.split("|").slice(1, -1).map((cell) => cell.trim());
    return [first, rest] as const;
  }),
);
const propertyOf = ({ schema }: { readonly schema: object }, name: string): Schema =>
  (schema as Schema).properties?.[name] ?? expect.fail(`no ${name}`);

describe("docs/api.md", () => {
  it("shows the sort fields of each list, and the default order", () => {
    for (const [camelCase, list] of Object.entries({ ...lists, history: historyLists.event })) {
      const name = camelCase.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      const { enum: fields = [], default: first } = propertyOf(list, "CpOrd");
      const others = fields.filter((field) => field !== first);
      const shown = [first, ...others].map((field) => `\`${String(field)}\``).join(", ");
      expect(rows.get(name), name).to.deep.equal([shown, `\`${String(propertyOf(list, "TpOrd").default)}\``]);
    }
  });

  it("shows the actual limits", () => {
    const limited = {
      maxTrys: bodies.updateTenant, circuitBreakerTimer: bodies.createTenant, serverRateLimit: bodies.createDestination,
      retentionDays: bodies.updateTenant, Qt: lists.events, Pg: lists.users,
    };
    for (const [name, where] of Object.entries(limited)) {
      const { minimum, maximum } = propertyOf(where, name);
      const range = `${minimum?.toLocaleString("en")} to ${maximum?.toLocaleString("en")}`;
      expect(rows.get(`\`${name}\``)?.[0], name).to.match(new RegExp(`^${range}\\b`));
    }
    const texts = { URL: propertyOf(bodies.createDestination, "url"), email: propertyOf(bodies.createUser, "email") };
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
