/** Does something with a file; SQLite's errors do not say with which. */
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
