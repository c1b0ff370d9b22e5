import Mocha from "mocha";

const { EVENT_RUN_END, EVENT_TEST_PENDING } = Mocha.Runner.constants;

/** Mocha's spec report, then the tests that did not run here by name, then one closing line for scripts to read. */
class ClosingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const skipped: string[] = [];
    let ended = false;
    runner.on(EVENT_TEST_PENDING, (test) => skipped.push(test.fullTitle()));
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
      if (skipped.length > 0) lines.push("  Not run here:", ...skipped.map((title) => `  - ${title}`));
      lines.push(`${passes} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`);
      process.stdout.write(`${lines.join("\n")}\n`);
    });
  }

  /** Comes with the closing line. */
  override epilogue(): void {}
}

// Mocha loads a reporter with require() and takes what that answers for the class.
export { ClosingReporter as "module.exports" };
