/** Runs an action on a file, so that its error names the file: SQLite's own does not. */
export function inFile<Result>(path: string, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw fileProblem(path, error);
  }
}

/** An error that names its file. */
export function fileProblem(path: string, error: unknown): Error {
  return new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
