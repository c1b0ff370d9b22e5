import { relative } from "node:path";
import Mocha from "mocha";

const {
  EVENT_HOOK_END, EVENT_RUN_END, EVENT_TEST_END, EVENT_TEST_FAIL, EVENT_TEST_PENDING, EVENT_TEST_RETRY,
} = Mocha.Runner.constants;

const slowestShown = 20;

/** The seconds that tests and hooks took, as lines: of the slowest files, then of all files of a kind. */
function secondsTaken(msByFile: ReadonlyMap<string, number>): string[] {
  const line = (name: string, ms: number) => `  ${(ms / 1_000).toFixed(1).padStart(8)}  ${name}`;
  const longestFirst = (times: ReadonlyMap<string, number>) => [...times].sort(([, a], [, b]) => b - a);
  const msByKind = new Map<string, number>();
  for (const [file, ms] of msByFile) {
    const kind = file.split("/")[1] ?? file;
    msByKind.set(kind, (msByKind.get(kind) ?? 0) + ms);
  }
  return [
    "  Slowest files, in seconds:",
    ...longestFirst(msByFile).slice(0, slowestShown).map(([file, ms]) => line(file, ms)),
    "  Seconds by kind:",
    ...longestFirst(msByKind).map(([kind, ms]) => line(kind, ms)),
  ];
}

/** A random property says in the second line with which seed it failed: the next try has another. */
function firstLines(message: string): string {
  return message.split("\n", 2).join(" ");
}

function reasons(byTitle: ReadonlyMap<string, string>): string[] {
  return [...byTitle].map(([title, why]) => `  - ${title}: ${why}`);
}

/**
 * Mocha's spec report, then the slowest files and the seconds of each kind of test, the names of tests that failed once
 * before they passed, of skipped tests and of failed ones, and one closing line for scripts to read.
 */
class ClosingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const skipped: string[] = [];
    const retried = new Map<string, string>();
    const failures = new Map<string, string>();
    const msByFile = new Map<string, number>();
    let ended = false;
    const took = ({ file, duration = 0 }: Mocha.Runnable) => {
      if (file === undefined) return;
      const name = relative(process.cwd(), file);
      msByFile.set(name, (msByFile.get(name) ?? 0) + duration);
    };
    runner.on(EVENT_HOOK_END, took);
    runner.on(EVENT_TEST_END, took);
    runner.on(EVENT_TEST_FAIL, (test: Mocha.Runnable, { message }: Error) => {
      failures.set(test.fullTitle(), firstLines(message));
    });
    runner.on(EVENT_TEST_PENDING, (test) => skipped.push(test.fullTitle()));
    runner.on(EVENT_TEST_RETRY, (test: Mocha.Test, { message }: Error) => {
      took(test);
      console.log(`    once more: ${test.fullTitle()}: ${message}`);
      retried.set(test.fullTitle(), firstLines(message));
    });
    runner.on(EVENT_RUN_END, () => { ended = true; });
    // At the exit and not at the run's end: a file that cannot be loaded is reported after that, and a
    // test that ends the process never comes to it.
    process.once("exit", () => {
      const { passes } = this.stats;
      const failed = ended ? this.stats.failures : this.stats.failures + 1;
      if (!ended) process.exitCode = 1;
      const lines = ended ? [] : ["  The run broke off."];
      try {
        super.epilogue();
      } catch (error) {
        lines.push(`  Mocha could not list the failures: ${String(error)}`);
      }
      if (msByFile.size > 1) lines.push(...secondsTaken(msByFile));
      if (retried.size > 0) lines.push("  Tried twice:", ...reasons(retried));
      if (skipped.length > 0) lines.push("  Not run here:", ...skipped.map((title) => `  - ${title}`));
      if (failures.size > 0) lines.push("  Failed:", ...reasons(failures));
      lines.push(`${passes} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`);
      process.stdout.write(`${lines.join("\n")}\n`);
    });
  }

  /** Comes with the closing line. */
  override epilogue(): void {}
}

// Mocha loads a reporter with require() and takes the result for the class.
export { ClosingReporter as "module.exports" };
