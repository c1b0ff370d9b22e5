/** A change of a source file: `from` stands in it exactly once. */
export interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A bug that a test is to catch. */
export interface Bug {
  readonly name: string;
  /** The property that the bug violates. */
  readonly breaks: string;
  readonly changes: readonly Change[];
  /** The test files that are to catch it. */
  readonly tests: readonly string[];
  /** Only tests whose full title matches are run. */
  readonly only?: string;
}
