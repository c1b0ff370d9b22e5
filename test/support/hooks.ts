/** Mocha lets unhandled rejections pass; thrown, they fail the test that runs. */
function rethrow(reason: unknown): never {
  throw reason;
}

/** Root hooks of every test file: mocha removes the listener between files. */
export const mochaHooks = {
  beforeAll(): void {
    process.on("unhandledRejection", rethrow);
  },
};
