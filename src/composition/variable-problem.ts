import type { Variable } from "../config/variables.ts";

/** What stands in the way of a start, told by the variable that an operator can change. */
export function variableProblem(variable: Variable, error: unknown): Error {
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`${variable}: ${why}`, { cause: error });
}

/** What a task comes to that does what the variable says; rejects as {@link variableProblem} has it. */
export async function asSaidBy<Result>(variable: Variable, task: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    throw variableProblem(variable, error);
  }
}
