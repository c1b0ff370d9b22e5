import { expect } from "chai";
import { Simulation, type RunResult } from "./simulation.ts";

const together = 5;

/** The broken invariant of a seed, and how to see its whole trace. */
function report({ seed, broken, last }: RunResult): string {
  return [`seed ${seed}: ${broken?.message}`, ...last, `SEED=${seed} make simulate shows all of it`].join("\n");
}

/** Runs a seed; rejects with its report if an invariant is broken. */
export async function mustHold(seed: string): Promise<void> {
  const outcome = await new Simulation(seed).run();
  if (outcome.broken) expect.fail(report(outcome));
}

/** Describes the seeds from `first` to `last`, some in each test. */
export function describeSeeds(first: number, last: number): void {
  describe("simulation", () => {
    for (let from = first; from <= last; from += together) {
      const to = Math.min(last, from + together - 1);
      it(`every invariant holds, seeds ${from} to ${to}`, async function () {
        this.timeout(600_000);
        for (let seed = from; seed <= to; seed += 1) await mustHold(String(seed));
      });
    }
  });
}
