import { expect } from "chai";
import { sized } from "../support/size.ts";
import { Simulation } from "./simulation.ts";

/** Seeds of a short run that has retries, circuits, purges and replays. */
const seeds = ["11", "12", "15", "19"].slice(0, sized(2, 4));
const scale = 0.05;
/** Every n-th request is tried as the last one. */
const every = sized(24, 1);

describe("a process that dies at any of its awaits", () => {
  for (const seed of seeds) {
    it(`breaks no invariant, seed ${seed}`, async function () {
      this.timeout(sized(120_000, 3_600_000));
      const whole = await new Simulation(seed, { scale, fair: true }).run();
      expect(whole.broken, String(whole.broken)).to.equal(undefined);
      const { questions } = whole;
      expect(questions).to.be.greaterThan(300);
      for (let question = 0; question < questions; question += every) {
        for (const done of every === 1 ? [true, false] : [question % (2 * every) === 0]) {
          const { broken, last, figures } = await new Simulation(seed, {
            scale, fair: true, death: { question, done },
          }).run();
          const where = `${done ? "after" : "before"} question ${question}`;
          if (broken) expect.fail([`${where}: ${broken.message}`, ...last].join("\n"));
          expect(figures.crashes, where).to.equal(1);
        }
      }
    });
  }
});
