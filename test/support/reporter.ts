import Mocha from "mocha";

const { EVENT_RUN_END, EVENT_TEST_PENDING, EVENT_TEST_RETRY } = Mocha.Runner.constants;

/**
 * Mocha's spec report, then by name the tests that failed once before they passed and those that did not run here, then
 * one closing line for scripts to read.
 */
class ClosingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const skipped: string[] = [];
    const retried = new Map<string, string>();
    let ended = false;
    runner.on(EVENT_TEST_PENDING, (test) => skipped.push(test.fullTitle()));
    runner.on(EVENT_TEST_RETRY, (test: Mocha.Test, { message }: Error) => {
      console.log(`    once more: ${test.fullTitle()}: ${message}`);
      // A random property says in the second line with which seed it failed: the next try has another.
      retried.set(test.fullTitle(), message.split("\n", 2).join(" "));
    });
    runner.on(EVENT_RUN_END, () => { ended = true; });
    // At the exit and not at the run's end: a file that cannot be loaded is reported after that, and a
    // test that ends the process never comes to it.
    process.once("exit", () => {
      const { passes, failures } = this.stats;
      const failed = ended ? failures : failures + 1;
      if (!ended) process.exitCode = 1;
      const lines = ended ? [] : ["  The run broke off."];
      try {
        super.epilogue();
      } catch (error) {
        lines.push(`  Mocha could not list the failures: ${String(error)}`);
      }
      if (retried.size > 0) lines.push("  Tried twice:", ...[...retried].map(([title, why]) => `  - ${title}: ${why}`));
      if (skipped.length > 0) lines.push("  Not run here:", ...skipped.map((title) => `  - ${title}`));
      lines.push(`${passes} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`);
      process.stdout.write(`${lines.join("\n")}\n`);
    });
  }

  /** Comes with the closing line. */
  override epilogue(): void {}
}

// Mocha loads a reporter with require() and takes the result for the class.
export { ClosingReporter as "module.exports" };
