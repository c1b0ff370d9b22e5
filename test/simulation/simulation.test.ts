import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { regressions } from "./regressions.ts";
import { mustHold } from "./seeds.ts";
import { Simulation } from "./simulation.ts";

describe("simulation", () => {
  for (const { seed, found } of regressions) {
    it(`holds for a seed that once found: ${found}`, () => mustHold(seed));
  }

  it("refuses an invalid number of seeds", () => {
    const command = ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "main.ts")];
    for (const SEEDS of ["x", "0", "-3", "1.5"]) {
      const { status, stderr } = spawnSync(process.execPath, command, { env: { SEEDS }, encoding: "utf8" });
      expect([status, stderr]).to.deep.equal([2, `SEEDS: must be a positive number, not "${SEEDS}"\n`]);
    }
  });

  it("depends on its seed alone", async () => {
    const run = async (seed: string) => (await new Simulation(seed).run()).digest;
    for (const seed of ["5", "9", "10"]) expect(await run(seed), `seed ${seed}`).to.equal(await run(seed));
    expect(await run("5")).to.not.equal(await run("9"));
  });
});
