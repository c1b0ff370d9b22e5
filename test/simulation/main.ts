import { Simulation, type RunResult } from "./simulation.ts";
import type { Weather } from "./weather.ts";

/**
 * Runs SEEDS seeds from FROM on, until STOP of them have failed, or one has by the invariant UNTIL. SEED runs that one
 * seed and prints its trace. SCALE multiplies the operations of each seed; WEATHER (JSON) changes the weather of all.
 * VERBOSE also reports seeds without failures; BRIEF leaves out the ends of traces.
 */
const { SEED, SEEDS = "200", FROM = "1", STOP = SEEDS, UNTIL, SCALE = "1", WEATHER } = process.env;
const { VERBOSE, BRIEF } = process.env;
// Otherwise no seed would run, and none would fail.
for (const [name, text] of Object.entries({ SEEDS, FROM, STOP, SCALE })) {
  if (Number(text) > 0 && (name === "SCALE" || Number.isInteger(Number(text)))) continue;
  console.error(`${name}: must be a positive number, not ${JSON.stringify(text)}`);
  process.exit(2);
}
const scale = Number(SCALE);
// JSON has null for Infinity.
const changed = JSON.parse(WEATHER ?? "null", (_name, value: unknown) => value ?? Infinity) as Partial<Weather>;
const weather = WEATHER === undefined ? {} : { weather: changed, ...(changed.fair && { fair: true as const }) };

function report({ seed, broken, last, weather: whole, digest, figures }: RunResult): void {
  if (broken && BRIEF === undefined) console.log([...last, "", JSON.stringify(whole)].join("\n"));
  const numbers = Object.entries(figures).map(([name, figure]) => `${name} ${figure}`).join(", ");
  const verdict = broken ? broken.message : "every invariant holds";
  console.log(`seed ${seed}: ${verdict} (${numbers}; ${digest.slice(0, 16)})`);
}

if (SEED !== undefined) {
  const outcome = await new Simulation(SEED, { scale, ...weather, print: (line) => console.log(line) }).run();
  report(outcome);
  process.exitCode = outcome.broken ? 1 : 0;
} else {
  let failed = 0;
  let ran = 0;
  let found = false;
  const totals: Record<string, number> = {};
  const from = Number(FROM);
  for (let seed = from; seed < from + Number(SEEDS) && failed < Number(STOP) && !found; seed += 1) {
    ran += 1;
    const outcome = await new Simulation(String(seed), { scale, ...weather }).run();
    for (const [name, figure] of Object.entries(outcome.figures)) totals[name] = (totals[name] ?? 0) + figure;
    if (outcome.broken) failed += 1;
    found = UNTIL !== undefined && (outcome.broken?.message.startsWith(`${UNTIL}: `) ?? false);
    if (outcome.broken || VERBOSE !== undefined) report(outcome);
  }
  console.log(`${ran} seeds, ${failed} failed: ${JSON.stringify(totals)}`);
  process.exitCode = failed > 0 ? 1 : 0;
}
