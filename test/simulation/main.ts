import { Simulation, type Outcome } from "./simulation.ts";

/**
 * Runs SEEDS seeds from FROM on, fewer when STOP of them failed; or the one that SEED names, with its trace. SCALE
 * multiplies the operations of each. VERBOSE tells of seeds that hold, too; BRIEF leaves out the ends of traces.
 */
const { SEED, SEEDS = "200", FROM = "1", STOP = SEEDS, SCALE = "1", VERBOSE, BRIEF } = process.env;
const scale = Number(SCALE);

function report({ seed, broken, last, weather, digest, figures }: Outcome): void {
  if (broken && BRIEF === undefined) console.log([...last, "", JSON.stringify(weather)].join("\n"));
  const numbers = Object.entries(figures).map(([name, figure]) => `${name} ${figure}`).join(", ");
  const verdict = broken ? broken.message : "every invariant holds";
  console.log(`seed ${seed}: ${verdict} (${numbers}; ${digest.slice(0, 16)})`);
}

if (SEED !== undefined) {
  const outcome = await new Simulation(SEED, { scale, print: (line) => console.log(line) }).run();
  report(outcome);
  process.exitCode = outcome.broken ? 1 : 0;
} else {
  let failed = 0;
  let ran = 0;
  const totals: Record<string, number> = {};
  const from = Number(FROM);
  for (let seed = from; seed < from + Number(SEEDS) && failed < Number(STOP); seed += 1) {
    ran += 1;
    const outcome = await new Simulation(String(seed), { scale }).run();
    for (const [name, figure] of Object.entries(outcome.figures)) totals[name] = (totals[name] ?? 0) + figure;
    if (outcome.broken) failed += 1;
    if (outcome.broken || VERBOSE !== undefined) report(outcome);
  }
  console.log(`${ran} seeds, ${failed} failed: ${JSON.stringify(totals)}`);
  process.exitCode = failed > 0 ? 1 : 0;
}
