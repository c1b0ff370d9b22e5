import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { invariants } from "../../simulation/invariants.ts";
import { plantedBugs } from "../../simulation/planted-bugs.ts";

const root = join(import.meta.dirname, "..", "..", "..");

describe("bugs planted in the simulation", () => {
  it("have names of their own", () => {
    expect(new Set(plantedBugs.map(({ name }) => name))).to.have.property("size", plantedBugs.length);
  });

  for (const invariant of invariants) {
    it(`break every invariant: ${invariant}`, () => {
      expect(plantedBugs.filter(({ breaks }) => breaks === invariant)).to.not.be.empty;
    });
  }

  for (const { name, file, find, instead } of plantedBugs) {
    it(`still apply to the source: ${name}`, () => {
      expect(readFileSync(join(root, file), "utf8").split(find)).to.have.length(2);
      expect(instead).to.not.equal(find);
    });
  }
});
