import { execFile } from "node:child_process";
import { join } from "node:path";
import pLimit from "p-limit";
import { plant, scratchCopy } from "../planted/plant.ts";
import { plantedBugs } from "./planted-bugs.ts";
import type { PlantedBug } from "./planted/planted-bug.ts";

/**
 * Plants each bug (or those whose names contain BUG) in a copy of the program, and runs at most SEEDS seeds until the
 * invariant that the bug breaks catches it; JOBS bugs at a time. Fails when a bug is not caught.
 */
const { SEEDS = "300", JOBS = "2", BUG = "", FROM = "1" } = process.env;

/** The output of a run of seeds in the copy under `root`. */
function run(root: string, { breaks, weather }: PlantedBug): Promise<string> {
  const program = join(root, "test/simulation/main.ts");
  const env = {
    PATH: process.env.PATH, SEEDS, FROM, UNTIL: breaks, BRIEF: "1",
    ...(weather && { WEATHER: JSON.stringify(weather) }),
  };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { env, maxBuffer: 2 ** 30 };
  execFile(process.execPath, ["--disable-warning=ExperimentalWarning", program], options, (_error, stdout, stderr) => {
    if (/^\d+ seeds,/m.test(stdout)) resolve(stdout);
    else reject(new Error(`it does not run: ${stderr.slice(-2_000)}`));
  });
  return promise;
}

async function verdictOn(bug: PlantedBug): Promise<{ readonly caught: boolean; readonly text: string }> {
  const { root, remove } = scratchCopy();
  plant([bug], root);
  const told = await run(root, bug).finally(remove);
  const found = [...told.matchAll(/^seed (\S+): ([^:]*): /gm)].map(([, seed, invariant]) => ({ seed, invariant }));
  const by = found.find(({ invariant }) => invariant === bug.breaks);
  const others = new Set(found.flatMap(({ invariant }) => (invariant === bug.breaks ? [] : [invariant])));
  const besides = others.size === 0 ? "" : `; also: ${[...others].join(", ")}`;
  const verdict = by ? `caught by: ${bug.breaks}, seed ${by.seed}` : `MISSED in ${SEEDS} seeds: ${bug.breaks}`;
  return { caught: by !== undefined, text: `${verdict}${besides}` };
}

const turns = pLimit(Number(JOBS));
const wanted = plantedBugs.filter(({ name }) => name.includes(BUG));
const verdicts = await Promise.all(wanted.map((bug) => turns(async () => {
  const { caught, text } = await verdictOn(bug);
  console.log(`${bug.name}: ${text}`);
  return caught;
})));
const missed = verdicts.filter((caught) => !caught).length;
console.log(missed === 0 ? "every bug was caught" : `${missed} not caught`);
process.exitCode = missed > 0 ? 1 : 0;
