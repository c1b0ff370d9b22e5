import { Evaluator, type EvaluatorOptions } from "./evaluator.ts";
import { MappingProblem, type Message, type TaskResult, type Task } from "./protocol.ts";

/** The mapping process: one task at a time, as long as the relay lives. */
const evaluator = new Evaluator(JSON.parse(process.argv[2] ?? "") as EvaluatorOptions);

function run(task: Task): TaskResult {
  const before = process.threadCpuUsage();
  const outcome = attempt(task);
  const { user, system } = process.threadCpuUsage(before);
  return { ...outcome, cpuMs: (user + system) / 1_000 };
}

function attempt({ expression, payload }: Task): { readonly text: string | null } | { readonly problem: string } {
  try {
    if (payload !== null) return { text: evaluator.apply(expression, payload) };
    evaluator.compile(expression);
    return { text: null };
  } catch (error) {
    if (error instanceof MappingProblem) return { problem: error.message };
    throw error;
  }
}

function tell(message: Message): void {
  process.send?.(message);
}

// Warms V8 up: cold code would make the first tenant count as slow.
for (let n = 0; n < 30; n += 1) {
  const expression = `{n: n, items: items[?id > \`${n}\`].{id: id, t: to_string(@)}}`;
  run({ expression, payload: '{"n":1,"items":[{"id":99}]}' });
}
process.on("message", (task: Task) => tell(run(task)));
// A Ctrl-C reaches the whole group, but the relay drains first.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
tell("ready");
