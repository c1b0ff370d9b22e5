import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { bugs } from "../../planted/bugs.ts";
import { obstacleTo } from "../../planted/plant.ts";

const root = join(import.meta.dirname, "..", "..", "..");

describe("planted bugs", () => {
  it("are many, each with a name of its own", () => {
    expect(bugs).to.have.length.of.at.least(16);
    expect(new Set(bugs.map(({ name }) => name))).to.have.property("size", bugs.length);
  });

  for (const bug of bugs) {
    it(`still apply to the source, and their tests are there: ${bug.name}`, () => {
      expect(obstacleTo(bug, root)).to.equal(null);
      for (const test of bug.tests) expect(existsSync(join(root, test)), test).to.equal(true);
    });
  }
});
