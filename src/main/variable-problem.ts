import type { Variable } from "./config/variables.ts";

/** Runs a task that depends on a variable; its error then names the variable, which an operator can change. */
export async function asSaidBy<Result>(variable: Variable, task: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${variable}: ${why}`, { cause: error });
  }
}
