import { expect } from "chai";
import { extended } from "../../../../src/kernel/operations/extended.ts";

describe("an extended schema", () => {
  const base = {
    $id: "base",
    type: "object",
    properties: { id: { type: "string" }, status: { enum: ["Active"], description: "Any." } },
    required: ["id"],
  };

  it("has its base's properties, with its own changes to them, and its own properties", () => {
    const own = { $id: "own", properties: { status: { description: "Now." }, token: { type: "string" } } };
    expect(extended(base, { ...own, required: ["token"] })).to.deep.equal({
      $id: "own",
      type: "object",
      properties: {
        id: { type: "string" }, status: { enum: ["Active"], description: "Now." }, token: { type: "string" },
      },
      required: ["id", "token"],
    });
  });

  it("does not change its base", () => {
    const before = structuredClone(base);
    extended(base, { properties: { status: { description: "Now." } }, required: ["status"] });
    expect(base).to.deep.equal(before);
  });
});
