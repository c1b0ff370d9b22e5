import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { endAll } from "./at-end.ts";
import { watch } from "./watchdog.ts";

fc.configureGlobal({
  // Without this, a random property says on which input it failed, but not how.
  includeErrorInReport: true,
  // Without this, a property draws some ten items at most, even where it allows forty or three hundred.
  defaultSizeToMaxWhenMaxSpecified: true,
});

/** Mocha lets unhandled rejections pass; thrown, they fail the test that runs. */
function rethrow(reason: unknown): never {
  throw reason;
}

let begins: ((title: string) => void) | undefined;

/** Builds program and pages once, before every test file: tests start the same program as users do. */
export function mochaGlobalSetup(): void {
  for (const script of ["build.js", "build-dashboard.js"]) {
    execFileSync(process.execPath, [fileURLToPath(new URL(`../../scripts/${script}`, import.meta.url))]);
  }
}

/** Ends the parts that test files share. */
export const mochaGlobalTeardown = endAll;

/** Root hooks of every test file: mocha removes the listener between files. */
export const mochaHooks = {
  beforeAll(): void {
    begins ??= watch();
    process.on("unhandledRejection", rethrow);
  },
  beforeEach(this: Mocha.Context): void {
    begins?.(this.currentTest?.fullTitle() ?? "");
  },
};
