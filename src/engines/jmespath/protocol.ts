/** A request to a mapping process: to compile an expression, or to apply it to a payload. */
export interface Task {
  readonly expression: string;
  readonly payload: string | null;
}

/** The outcome of a task, and how long it kept the processor busy. */
export type Outcome = ({ readonly text: string | null } | { readonly problem: string }) & { readonly cpuMs: number };

/** A message of a mapping process: first that it is ready, then one outcome for each task. */
export type Message = "ready" | Outcome;

/** A fault of an expression, or of its result, in words for the expression's author. */
export class MappingProblem extends Error {
  override readonly name: string = "MappingProblem";
}
