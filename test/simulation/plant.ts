import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plantedBugs, type PlantedBug } from "./planted-bugs.ts";

/**
 * Plants each bug (or those whose names hold BUG) in a copy of the program and runs SEEDS seeds of it, fewer once
 * STOP of them caught it. Fails when one is not caught that is not rare.
 */
const { SEEDS = "300", STOP = "3", BUG = "", FROM = "1" } = process.env;
const root = join(import.meta.dirname, "..", "..");
const copied = ["package.json", "src", "projections", "schemas", "test/simulation", "test/support"];

function planted({ file, find, instead }: PlantedBug): string {
  const folder = mkdtempSync(join(tmpdir(), "relay-planted-"));
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const source = readFileSync(join(folder, file), "utf8");
  if (source.split(find).length !== 2) throw new Error(`${file} has not exactly one: ${find}`);
  writeFileSync(join(folder, file), source.replace(find, () => instead));
  return folder;
}

let missed = 0;
for (const bug of plantedBugs.filter(({ name }) => name.includes(BUG))) {
  const folder = planted(bug);
  const program = join(folder, "test/simulation/main.ts");
  const { stdout, stderr } = spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", program], {
    env: { PATH: process.env.PATH, SEEDS, STOP, FROM, BRIEF: "1" }, encoding: "utf8", maxBuffer: 2 ** 30,
  });
  rmSync(folder, { recursive: true, force: true });
  const failures = stdout.split("\n").filter((line) => /^seed .*: /.test(line));
  const found = failures.map((line) => /^seed (\S+): ([^:]*)/.exec(line)?.slice(1) ?? []);
  const invariants = Map.groupBy(found, ([, invariant]) => invariant);
  const seeds = found.map(([seed]) => seed);
  if (seeds.length === 0 && !bug.rare) missed += 1;
  const ran = /^(\d+) seeds,/m.exec(stdout)?.[1];
  if (ran === undefined) throw new Error(`${bug.name}: it does not run: ${stderr.slice(-2_000)}`);
  console.log(`${seeds.length > 0 ? "caught" : "MISSED"} ${bug.name}: ${seeds.length} of ${ran} seeds`);
  for (const [invariant, by] of invariants) {
    console.log(`  ${by.length} x ${invariant}: seeds ${by.slice(0, 5).map(([seed]) => seed).join(" ")}`);
  }
}
process.exitCode = missed > 0 ? 1 : 0;
