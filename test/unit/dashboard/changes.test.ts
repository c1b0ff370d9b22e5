import { expect } from "chai";
import { changesIn, changesOf, fieldsIn, settingName } from "../../../packages/dashboard/src/parts/changes.ts";
import type { Fact } from "../../../packages/dashboard/src/parts/fact-words.ts";

const fact = (fields: object) => ({ type: "SenderRenamed", data: {}, ...fields }) as unknown as Fact;

describe("the changes of an entry", () => {
  it("have the values before and after as lines of text", () => {
    const searchFields = [{ name: "order", path: "/o" }, { name: "n", path: "" }];
    const changes = [
      { field: "name", from: "till", to: "shop" },
      { field: "mapping", from: null, to: { language: "jmespath", expression: "{a: a}" } },
      { field: "searchFields", from: searchFields, to: [] },
      { field: "serverRateLimit", to: 9 },
    ];
    expect(changesIn(fact({ changes }))).to.deep.equal([
      { field: "name", before: "till", after: "shop" },
      { field: "mapping", before: null, after: "{a: a}" },
      { field: "searchFields", before: "order /o, n ", after: null },
      { field: "serverRateLimit", before: null, after: "9" },
    ]);
    expect(changesIn(fact({}))).to.deep.equal([]);
  });

  it("say of a secret that it was set, replaced or removed", () => {
    const changes = [
      { field: "auth", from: null, to: "***" }, { field: "auth", from: "***", to: "***" },
      { field: "auth", from: "***", to: null },
    ];
    expect(changesIn(fact({ changes })).map(({ before, after }) => [before, after])).to.deep.equal([
      [null, "set"], [null, "replaced"], ["set", null],
    ]);
  });

  it("are the ordered fields of an entry that changes no setting, without its own ids", () => {
    const at = "2026-11-26T12:00:00.000Z";
    const data = { replayId: "r1", tenantId: "t1", at, destinationId: "d1", tag: null, matched: 3 };
    expect(fieldsIn(fact({ data }), "r1")).to.deep.equal([
      { field: "destinationId", before: null, after: "d1" }, { field: "matched", before: null, after: "3" },
    ]);
  });

  it("are named for people", () => {
    const names = ["url", "searchFields", "ingestToken"].map(settingName);
    expect(names).to.deep.equal(["URL", "Search fields", "Ingest token"]);
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
