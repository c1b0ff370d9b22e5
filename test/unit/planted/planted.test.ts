import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { bugs } from "../../planted/bugs.ts";
import { obstacleTo } from "../../planted/plant.ts";
import { titlesIn } from "../../planted/tests.ts";
import { invariants } from "../../simulation/invariants.ts";
import { plantedBugs } from "../../simulation/planted-bugs.ts";
import { everyRaised, makeNextRelease } from "../../support/next-release.ts";

const root = join(import.meta.dirname, "..", "..", "..");

describe("planted bugs", () => {
  it("are many, each with a unique name", () => {
    expect(bugs).to.have.length.of.at.least(16);
    for (const all of [bugs, plantedBugs]) {
      expect(new Set(all.map(({ name }) => name))).to.have.property("size", all.length);
    }
  });

  for (const { name, changes, tests } of bugs) {
    it(`still apply to the source, and their tests exist: ${name}`, () => {
      expect(obstacleTo(changes)).to.equal(null);
      for (const test of tests) expect(existsSync(join(root, test)), test).to.equal(true);
    });
  }

  it("name titles of their tests", async () => {
    const named = bugs.filter(({ only }) => only !== undefined);
    const titles = await titlesIn([...new Set(named.flatMap(({ tests }) => tests))]);
    const unknown = named.filter(({ only = "" }) => !titles.some((title) => title.includes(only)));
    expect(unknown.map(({ name }) => name)).to.deep.equal([]);
  });

  for (const bug of plantedBugs) {
    it(`still apply to the source: ${bug.name}`, () => expect(obstacleTo([bug])).to.equal(null));
  }

  for (const raised of everyRaised) {
    it(`make the next release of the upgrade tests, which raises ${raised}`, () => {
      makeNextRelease(raised, { newProjections: true }).remove();
    });
  }

  for (const invariant of invariants) {
    it(`break every invariant: ${invariant}`, () => {
      expect(plantedBugs.filter(({ breaks }) => breaks === invariant)).to.not.be.empty;
    });
  }
});
