import { fork, type ChildProcess } from "node:child_process";
import type { EvaluatorOptions } from "./evaluator.ts";
import type { Message, TaskResult, Task } from "./protocol.ts";

const program = new URL("./worker.ts", import.meta.url);
const heapMb = 128;
const startMs = 10_000;

/** The process may read files, to load itself, and nothing else. */
const restrictions = ["--permission", "--allow-fs-read=*", "--disable-proto=delete", `--max-old-space-size=${heapMb}`];

/** A process that evaluates mappings one at a time, without secrets of the relay. */
export class MappingProcess {
  readonly #child: ChildProcess;
  #settle: ((outcome: TaskResult | null) => void) | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (outcome: TaskResult) => this.#end(outcome));
    child.once("exit", () => this.#end(null));
  }

  /** Rejects if the start fails. `onExit` is called at the end, for any cause. */
  static async start(options: EvaluatorOptions, onExit: (process: MappingProcess) => void): Promise<MappingProcess> {
    const child = fork(program, [JSON.stringify(options)], {
      execArgv: [...restrictions],
      env: {},
      serialization: "advanced",
      // V8 prints pages about a full heap.
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const late = setTimeout(() => child.kill("SIGKILL"), startMs);
    await new Promise<void>((resolve, reject) => {
      child.once("message", (_ready: Message) => resolve());
      child.once("error", reject);
      child.once("exit", (code, signal) => reject(new Error(`a mapping process ended at once (${signal ?? code})`)));
    }).finally(() => clearTimeout(late));
    const started = new MappingProcess(child);
    child.removeAllListeners("error").on("error", () => child.kill("SIGKILL"));
    child.once("exit", () => onExit(started));
    // Keeps the relay alive only while a task runs.
    child.unref();
    child.channel?.unref();
    return started;
  }

  /** Null if the process ended over the task, also for exceeding `limitMs`. */
  async run(task: Task, limitMs: number): Promise<TaskResult | null> {
    this.#child.channel?.ref();
    const limit = setTimeout(() => this.kill(), limitMs);
    try {
      return await new Promise<TaskResult | null>((resolve) => {
        this.#settle = resolve;
        this.#child.send(task, (error) => error && this.kill());
      });
    } finally {
      clearTimeout(limit);
      this.#child.channel?.unref();
    }
  }

  kill(): void {
    this.#child.kill("SIGKILL");
    this.#end(null);
  }

  #end(outcome: TaskResult | null): void {
    this.#settle?.(outcome);
    this.#settle = undefined;
  }
}
