import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Bug } from "./bug.ts";

/** Longer than any test takes: with a bug planted, a test may wait for ever. */
const patienceMs = 240_000;

/** The fields used of mocha's JSON report. */
interface Report {
  readonly stats: { readonly tests: number };
  readonly failures: readonly { readonly fullTitle: string }[];
}

/**
 * Runs the tests that are to catch the bug in the copy of the project under `root`, up to the first failure; the
 * titles of failed tests. Throws when no test ran.
 */
export async function failuresOf(root: string, { tests, only }: Pick<Bug, "tests" | "only">): Promise<string[]> {
  const path = join(root, "report.json");
  rmSync(path, { force: true });
  const args = [
    "node_modules/mocha/bin/mocha.js", "--no-parallel", "--bail", "--exit", "--reporter", "json",
    "--reporter-option", `output=${path}`, ...(only === undefined ? [] : ["--grep", only]), ...tests,
  ];
  const PATH = `${join(root, "node_modules", ".bin")}:${process.env["PATH"] ?? ""}`;
  const options = { cwd: root, env: { ...process.env, PATH }, detached: true, stdio: "ignore" } as const;
  const ended = await endOf(spawn(process.execPath, args, options));
  if (!existsSync(path)) {
    if (!ended) return [`no end within ${patienceMs / 1000} s`];
    throw new Error(`no report of ${tests.join(", ")}`);
  }
  const { stats, failures } = JSON.parse(readFileSync(path, "utf8")) as Report;
  if (stats.tests === 0 && failures.length === 0) throw new Error(`no test was run of ${tests.join(", ")}`);
  return failures.map(({ fullTitle }) => fullTitle);
}

/** The titles of all tests in files of the project, in full; no test runs. */
export async function titlesIn(files: readonly string[]): Promise<readonly string[]> {
  const cwd = join(import.meta.dirname, "..", "..");
  const mocha = join(cwd, "node_modules/mocha/bin/mocha.js");
  const args = [mocha, "--no-parallel", "--dry-run", "--exit", "--reporter", "json", ...files];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, maxBuffer: 2 ** 26 });
  interface Titles { readonly tests: readonly { readonly fullTitle: string }[] }
  const { tests } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as Titles;
  return tests.map(({ fullTitle }) => fullTitle);
}

/** Whether the child ended by itself in time. Kills its process group: a failed test may leave processes behind. */
async function endOf(child: ChildProcess): Promise<boolean> {
  let inTime = true;
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // No process of the group is left.
    }
  };
  const timer = setTimeout(() => {
    inTime = false;
    endGroup();
  }, patienceMs);
  process.once("exit", endGroup);
  await once(child, "exit");
  clearTimeout(timer);
  process.removeListener("exit", endGroup);
  endGroup();
  return inTime;
}
