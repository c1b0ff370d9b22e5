import type { Variable } from "../config/variables.ts";

/** An error that stops a start, with the variable that an operator can change. */
export function variableProblem(variable: Variable, error: unknown): Error {
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`${variable}: ${why}`, { cause: error });
}

/** Runs a task that depends on a variable; its error then names the variable. */
export async function asSaidBy<Result>(variable: Variable, task: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    throw variableProblem(variable, error);
  }
}
