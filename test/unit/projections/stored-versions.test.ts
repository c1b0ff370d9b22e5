import { expect } from "chai";
import { audit, auditProjection, type AuditDocument } from "../../../projections/audit/audit.ts";
import { collections, project } from "../../../projections/index.ts";
import { JsonEventCodec } from "../../../src/engines/event-codec/event-codec.ts";
import { operationsOf } from "../../../src/engines/mongodb/operations.ts";
import { fold } from "../../../src/kernel/read-models/engine/folded-changes.ts";
import { examplesOf, storedVersions, type StoredFact } from "../../support/fact-examples.ts";
import { metadata, recorded } from "../../support/recorded.ts";

const codec = new JsonEventCodec();
const definitions = new Map(collections.map((definition) => [definition.name, definition]));

/** The changes that the projections make of a stored fact with an actor. */
function changesOf({ type, data, metadata: { ...stored } }: StoredFact) {
  const decoded = codec.decode({
    type, data: JSON.stringify(data), metadata: JSON.stringify({ ...stored, actor: metadata.actor }),
  });
  if (!("event" in decoded)) return expect.fail(decoded.unreadable);
  return project({ ...recorded(decoded.event, 1), metadata: decoded.metadata });
}

describe("every version of a fact that was ever stored", () => {
  const listed = new Set<string>();

  for (const name of storedVersions) {
    const [type = "", version] = name.split(".v");
    it(`gives documents that fit the read models: ${name}`, () => {
      for (const stored of examplesOf(type, Number(version))) {
        const changes = changesOf(stored);
        operationsOf(definitions, fold([{ changes }]));
        for (const change of changes) {
          if (change.op !== "put" || change.collection !== audit.name) continue;
          const { tenantId, subjectId } = change.document as AuditDocument;
          expect([typeof tenantId, typeof subjectId]).to.deep.equal(["string", "string"]);
          listed.add(stored.type);
        }
      }
    });
  }

  it("is listed in the audit if the audit knows its type", () => {
    expect([...listed]).to.have.members(Object.keys(auditProjection.on));
  });
});
