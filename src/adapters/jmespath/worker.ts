import { Evaluator, type EvaluatorOptions } from "./evaluator.ts";
import { MappingProblem } from "./problem.ts";
import type { Message, Outcome, Task } from "./protocol.ts";

/** The mapping process: one task after the other, until the relay is gone. */
const evaluator = new Evaluator(JSON.parse(process.argv[2] ?? "") as EvaluatorOptions);

function run({ expression, payload }: Task): Outcome {
  const startedAt = performance.now();
  const ms = () => performance.now() - startedAt;
  try {
    if (payload !== null) return { text: evaluator.apply(expression, payload), ms: ms() };
    evaluator.compile(expression);
    return { text: null, ms: ms() };
  } catch (error) {
    if (error instanceof MappingProblem) return { problem: error.message, ms: ms() };
    throw error;
  }
}

function tell(message: Message): void {
  process.send?.(message);
}

process.on("message", (task: Task) => tell(run(task)));
// A Ctrl-C reaches the whole group; the relay drains first, and this process ends with it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
tell("ready");
