import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { audit, auditProjection, type AuditDocument } from "../../../projections/audit/audit.ts";
import { collections, project } from "../../../projections/index.ts";
import { JsonEventCodec } from "../../../src/adapters/event-codec/event-codec.ts";
import { operationsOf } from "../../../src/adapters/mongodb/operations.ts";
import { fold } from "../../../src/adapters/read-models/folded-changes.ts";
import { metadata, recorded } from "../../support/recorded.ts";

const folder = new URL("../../../schemas/events/examples/", import.meta.url);
const codec = new JsonEventCodec();
const definitions = new Map(collections.map((definition) => [definition.name, definition]));

interface Stored {
  readonly type: string;
  readonly data: object;
  readonly metadata: object;
}

/** The changes that the projections make of a stored fact with an actor. */
function changesOf({ type, data, metadata: { ...stored } }: Stored) {
  const decoded = codec.decode({
    type, data: JSON.stringify(data), metadata: JSON.stringify({ ...stored, actor: metadata.actor }),
  });
  if (!("event" in decoded)) return expect.fail(decoded.unreadable);
  return project({ ...recorded(decoded.event, 1), metadata: decoded.metadata });
}

describe("every version of a fact that was ever stored", () => {
  const listed = new Set<string>();

  for (const name of readdirSync(folder)) {
    it(`gives documents that fit the read models: ${name}`, () => {
      for (const stored of JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Stored[]) {
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
