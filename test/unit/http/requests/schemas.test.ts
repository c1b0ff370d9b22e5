import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { operations } from "../../../support/document.ts";

describe("schemas of requests", () => {
  const schemas = operations.flatMap(({ id, body, query }) =>
    [body, query].flatMap((reader) => (reader ? [[id, reader.schema] as const] : [])));

  it("satisfy JSON Schema's own schema, which the relay does not check at its start", () => {
    expect(schemas.length).to.be.greaterThan(30);
    const ajv = new Ajv2020();
    for (const [name, schema] of schemas) {
      expect(ajv.validateSchema(schema), `${name}: ${ajv.errorsText(ajv.errors)}`).to.equal(true);
    }
  });
});
