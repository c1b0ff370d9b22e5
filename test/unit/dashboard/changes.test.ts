import { expect } from "chai";
import { changesIn, changesOf, valuesAfter } from "../../../packages/dashboard/src/parts/changes.ts";
import type { Fact } from "../../../packages/dashboard/src/parts/fact-words.ts";

const at = "2026-11-26T12:00:00.000Z";
const fact = (type: string, data: object) => ({ type, time: at, data }) as unknown as Fact;
const ids = { senderId: "s1", tenantId: "t1", at };

describe("the values of a thing after facts about it", () => {
  it("are the newest of each field, without the thing's own ids", () => {
    const sender = { type: "sender", id: "s1" };
    const made = { name: "till", destinationId: "d1", mapping: null, searchFields: [] };
    const created = fact("SenderCreated", { ...ids, ...made });
    const searchFields = [{ name: "order", path: "/o" }, { name: "n", path: "" }];
    const changes = [
      fact("SenderRenamed", { ...ids, name: "shop" }),
      fact("SenderMappingChanged", { ...ids, mapping: { language: "jmespath", expression: "{a: a}" } }),
      fact("SenderSearchFieldsChanged", { ...ids, searchFields }),
      fact("SenderDeactivated", ids),
      fact("SenderIngestTokenRegenerated", ids),
    ];
    expect(valuesAfter([created], sender)).to.deep.equal(
      { name: "till", "destination id": "d1", mapping: null, "search fields": null, status: "Active" });
    expect(valuesAfter([created, ...changes], sender)).to.deep.equal({
      name: "shop", "destination id": "d1", mapping: "{a: a}", "search fields": "order /o, n ",
      status: "Inactive", "ingest token": `replaced at ${at}`,
    });
  });

  it("tell a removed authentication, and take no value before for one of now", () => {
    const destination = { type: "destination", id: "d1" };
    const auth = fact("DestinationAuthConfigured", { destinationId: "d1", authType: "BasicAuth" });
    expect(valuesAfter([auth, fact("DestinationAuthRemoved", { destinationId: "d1" })], destination))
      .to.deep.equal({ "auth type": null });
    const role = fact("UserRoleChanged", { userId: "u1", from: "Viewer", role: "Admin", status: "Active" });
    expect(valuesAfter([role], { type: "user", id: "u1" })).to.deep.equal({ role: "Admin", status: "Active" });
    const replay = fact("ReplayOrdered", { replayId: "r1", destinationId: "d1", from: at, matched: 3 });
    expect(valuesAfter([replay], { type: "replay", id: "r1" }))
      .to.deep.equal({ "destination id": "d1", from: at, matched: "3" });
  });
});

describe("the changes between two states", () => {
  it("have the values before and after of each field that differs, also of fields that one state lacks", () => {
    expect(changesOf({ url: "a", limit: 5, auth: "ApiKey" }, { url: "b", limit: 5, status: "Active" })).to.deep.equal([
      { field: "url", before: "a", after: "b" },
      { field: "status", before: null, after: "Active" },
      { field: "auth", before: "ApiKey", after: null },
    ]);
  });

  it("tell no value from no field neither by null nor by undefined", () => {
    expect(changesOf({ auth: null }, { auth: undefined })).to.deep.equal([]);
  });
});

describe("the changes of a history", () => {
  it("have the values before and after each fact", () => {
    const follow = (before: object, added: number) => ({ ...before, [`field ${added}`]: added });
    expect(changesIn([1, 2], follow)).to.deep.equal([
      { fact: 1, before: {}, after: { "field 1": 1 } },
      { fact: 2, before: { "field 1": 1 }, after: { "field 1": 1, "field 2": 2 } },
    ]);
  });
});
