import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { auditTypes, histories, shownData } from "../../src/features/facts.ts";
import type { Schema } from "../../src/kernel/operations/description.ts";
import { apiDocument, closedDocument } from "../support/document.ts";
import { examplesOf } from "../support/fact-examples.ts";

type Data = Readonly<Record<string, unknown>>;

const types = Object.values(histories).flat();
const fact = (type: string, data: object) => ({
  type, revision: 0, position: "0000000000000001", time: "2026-01-31T23:59:59.000Z",
  actor: { type: "service", part: "sweeper" }, correlationId: "CHG-4711", data,
});

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(closedDocument, "closed").addSchema(apiDocument, "open");
const check = (document: "closed" | "open", schema: string, value: unknown): string | undefined => {
  const validate = ajv.compile({ $ref: `${document}#/components/schemas/${schema}` });
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
};

describe("facts in the OpenAPI document", () => {
  it("have a schema for each type, with exactly the fields that histories show", () => {
    for (const type of types) {
      for (const { data } of examplesOf(type)) {
        const shown = fact(type, shownData({ type, data }));
        for (const schema of [`${type}Fact`, "HistoryItem"]) {
          expect(check("closed", schema, shown), `${schema} ${type}`).to.equal(undefined);
        }
        const more = { ...shown.data, more: 1 };
        expect(check("closed", "HistoryItem", { ...shown, data: more }), type).not.to.equal(undefined);
        const { at: _at, ...less } = shown.data as Data;
        expect(check("open", "HistoryItem", { ...shown, data: less }), type).not.to.equal(undefined);
      }
    }
  });

  it("may have types and fields that a later version adds", () => {
    const later = fact("EventMended", { eventId: "any", how: { thoroughly: true } });
    expect(check("open", "HistoryItem", later)).to.equal(undefined);
    expect(check("open", "AuditItem", later)).to.equal(undefined);
    const [{ data } = { data: {} }] = examplesOf("EventCancelled");
    const extended = { ...fact("EventCancelled", { ...data, more: 1 }), more: 1 };
    expect(check("open", "HistoryItem", extended)).to.equal(undefined);
  });

  it("are discriminated by their type, in histories and in the audit", () => {
    const mappingOf = (name: string) => apiDocument.components.schemas[name]?.discriminator?.mapping ?? {};
    for (const [name, told] of [["HistoryItem", types], ["AuditItem", auditTypes]] as const) {
      const mapping = Object.fromEntries(told.map((type) => [type, `#/components/schemas/${type}Fact`]));
      expect(mappingOf(name)).to.deep.equal({ ...mapping, OtherFact: "#/components/schemas/OtherFact" });
      const members = (apiDocument.components.schemas[name]?.oneOf ?? []).map(({ $ref }: Schema) => $ref);
      expect(members).to.deep.equal(Object.values(mappingOf(name)));
    }
  });
});
