import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { bodies } from "../../../../src/http/requests/body-schemas.ts";
import * as queries from "../../../../src/http/requests/list-queries.ts";

describe("schemas of requests", () => {
  const readers = { ...bodies, ...queries, ...queries.lists, ...queries.historyLists };
  const schemas = Object.entries(readers).flatMap(([name, reader]) =>
    "schema" in reader ? [[name, reader.schema] as const] : []);

  it("satisfy JSON Schema's own schema, which the relay does not check at its start", () => {
    expect(schemas.length).to.be.greaterThan(30);
    const ajv = new Ajv2020();
    for (const [name, schema] of schemas) {
      expect(ajv.validateSchema(schema), `${name}: ${ajv.errorsText(ajv.errors)}`).to.equal(true);
    }
  });
});
