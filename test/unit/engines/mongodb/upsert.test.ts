import { expect } from "chai";
import { MongoServerError } from "mongodb";
import { duplicateKey, unlessMade } from "../../../../src/engines/mongodb/upsert.ts";

describe("a change that creates its document", () => {
  const made = new MongoServerError({ message: "E11000 duplicate key error", code: duplicateKey });
  const upsert = (errors: readonly Error[]) => {
    const left = [...errors];
    const tries = { made: 0 };
    const change = async () => {
      tries.made += 1;
      const error = left.shift();
      if (error) throw error;
      return "changed";
    };
    return { tries, outcome: unlessMade(change).catch((error: unknown) => error) };
  };

  it("is tried again where another writer created it first", async () => {
    const { outcome, tries } = upsert([made, made]);
    expect(await outcome).to.equal("changed");
    expect(tries.made).to.equal(3);
  });

  it("fails with the same error after ten tries, and at once with any other error", async () => {
    const goesOn = upsert(Array<Error>(100).fill(made));
    expect(await goesOn.outcome).to.equal(made);
    expect(goesOn.tries.made).to.equal(10);
    const other = new Error("away");
    const { outcome, tries } = upsert([other]);
    expect(await outcome).to.equal(other);
    expect(tries.made).to.equal(1);
  });
});
