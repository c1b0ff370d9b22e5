import type { Bug } from "./bug.ts";
import { bugs } from "./bugs.ts";
import { obstacleTo, plant, scratchCopy } from "./plant.ts";
import { failuresOf } from "./tests.ts";

/**
 * Plants each bug of `bugs.ts`, or the named bugs, in a scratch copy of the source, one at a time, and runs the tests
 * that are to catch it. Prints a row for each; exits with code 1 when a bug is missed or no longer applies.
 */
const wanted = process.argv.slice(2).flatMap((argument) => argument.split(",")).filter((name) => name !== "");

const unknown = wanted.filter((name) => !bugs.some((bug) => bug.name === name));
if (unknown.length > 0) {
  console.error(`no bug ${unknown.join(", ")}: there are ${bugs.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

const { root, remove } = scratchCopy();
process.once("exit", remove);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const width = Math.max(...bugs.map(({ name }) => name.length));
/** Tests that have passed without a bug. */
const sound = new Set<string>();
let missed = 0;

for (const bug of wanted.length > 0 ? bugs.filter(({ name }) => wanted.includes(name)) : bugs) {
  const verdict = await verdictOn(bug);
  if (!verdict.caught) missed += 1;
  console.log(`${bug.name.padEnd(width)}  ${verdict.text}`);
}
console.log(missed === 0 ? "every bug was caught" : `${missed} not caught`);
process.exitCode = missed === 0 ? 0 : 1;

async function verdictOn(bug: Bug): Promise<{ readonly caught: boolean; readonly text: string }> {
  const obstacle = obstacleTo(bug.changes, root);
  if (obstacle !== null) return { caught: false, text: `DOES NOT APPLY: ${obstacle}` };
  // A test that fails without the bug, too, catches nothing.
  const key = JSON.stringify([bug.tests, bug.only]);
  const before = sound.has(key) ? [] : await failuresOf(root, bug);
  if (before.length > 0) return { caught: false, text: `FAILS WITHOUT IT: ${before[0]}` };
  sound.add(key);
  const takeOut = plant(bug.changes, root);
  try {
    const [first] = await failuresOf(root, bug);
    if (first === undefined) return { caught: false, text: `MISSED by ${bug.tests.join(", ")}: ${bug.breaks}` };
    return { caught: true, text: `caught by: ${first}` };
  } finally {
    takeOut();
  }
}
