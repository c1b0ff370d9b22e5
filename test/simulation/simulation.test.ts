import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { sized } from "../support/size.ts";
import { regressions } from "./regressions.ts";
import { Simulation, type Outcome } from "./simulation.ts";

const seeds = sized(200, 10_000);
const together = 25;

/** The broken invariant of a seed, and how to see its whole trace. */
function report({ seed, broken, last }: Outcome): string {
  return [`seed ${seed}: ${broken?.message}`, ...last, `SEED=${seed} make simulate shows all of it`].join("\n");
}

async function mustHold(seed: string): Promise<void> {
  const outcome = await new Simulation(seed).run();
  if (outcome.broken) expect.fail(report(outcome));
}

describe("simulation", () => {
  for (let from = 1; from <= seeds; from += together) {
    const to = Math.min(seeds, from + together - 1);
    it(`every invariant holds, seeds ${from} to ${to}`, async function () {
      this.timeout(600_000);
      for (let seed = from; seed <= to; seed += 1) await mustHold(String(seed));
    });
  }

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
