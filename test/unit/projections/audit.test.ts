import { expect } from "chai";
import { auditProjection, auditSelected } from "../../../projections/audit/audit.ts";
import type { Actor } from "../../../src/kernel/domain/domain-event.ts";
import { idOf } from "../../support/chronicle.ts";
import { metadata, recorded } from "../../support/recorded.ts";

const [tenantId, userId, destinationId] = [idOf("tenant", 0), idOf("user", 0), idOf("destination", 0)];
const { at } = metadata;
/** The time recorded in the log, which histories show. */
const time = "2026-01-15T09:30:00.001Z";
const url = "https://receiver.example/hook";
const data = { destinationId, tenantId, url, at };

const by = (actor: Actor) =>
  auditProjection.on.DestinationUrlChanged?.(data, {
    ...recorded({ type: "DestinationUrlChanged", data }, 7), revision: 3, metadata: { ...metadata, actor, at: time },
  }) ?? expect.fail();

describe("the audit", () => {
  it("holds a fact as histories show it, with its subject and its actor, and counts it", () => {
    const actor: Actor = { type: "user", id: userId, role: "Owner" };
    const [put, add] = by(actor);
    expect(put).to.deep.include({ op: "put", collection: "audit", key: "0000000000000007", fresh: true });
    expect(put).to.have.deep.property("document", {
      position: "0000000000000007", tenantId, type: "DestinationUrlChanged", revision: 3, time,
      subjectType: "destination", subjectId: destinationId, actorId: userId, actor, correlationId: "spec", data,
    });
    expect(add).to.deep.equal({ op: "add", scope: `audit/${tenantId}`, bucket: 0, by: 1 });
  });

  it("holds facts caused by the operator and by people without an account, and none by the service itself", () => {
    for (const actor of [{ type: "anonymous" }, { type: "service", part: "operator" }] as const) {
      expect(by(actor)[0]).to.deep.nested.include({ "document.actor": actor, "document.actorId": null });
    }
    for (const part of ["retention", "purger", "key-rotation"]) expect(by({ type: "service", part })).to.deep.equal([]);
  });

  it("records the actor's id only for users, though metadata is open", () => {
    for (const actor of [{ type: "anonymous", id: 7 }, { type: "service", part: "operator", id: {} }]) {
      expect(by(actor as unknown as Actor)[0]).to.have.nested.property("document.actorId", null);
    }
  });

  it("filters a list only by the given fields", () => {
    expect(auditSelected({ tenantId, type: undefined })).to.deep.equal({ collection: "audit", where: { tenantId } });
    expect(auditSelected({ tenantId, type: "UserCreated", actorId: userId, to: at })).to.deep.equal({
      collection: "audit", where: { tenantId, type: "UserCreated", actorId: userId }, range: { field: "time", to: at },
    });
  });
});
