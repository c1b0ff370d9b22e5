/** Compiles an expression, or applies it to a payload. */
export interface Task {
  readonly expression: string;
  readonly payload: string | null;
}

/** A task's result and its processor time. */
export type TaskResult = ({ readonly text: string | null } | { readonly problem: string }) & { readonly cpuMs: number };

/** First "ready", then one result for each task. */
export type Message = "ready" | TaskResult;

/** A fault of an expression or its result, in words for the author. */
export class MappingProblem extends Error {
  override readonly name: string = "MappingProblem";
}
