import { fork, type ChildProcess } from "node:child_process";
import type { EvaluatorOptions } from "./evaluator.ts";
import type { Message, Outcome, Task } from "./protocol.ts";

const program = new URL("./worker.ts", import.meta.url);
/** More than any mapping within its time needs, and a small part of a machine's memory. */
const heapMb = 128;
const startMs = 10_000;

/** The process may read files, to load itself, and nothing else: no writing, no processes, no threads, no add-ons. */
const restrictions = ["--permission", "--allow-fs-read=*", "--disable-proto=delete", `--max-old-space-size=${heapMb}`];

/**
 * A process that evaluates mappings one at a time. It gets no secret of the relay's, and of its settings only the
 * bounds of evaluation.
 */
export class MappingProcess {
  readonly #child: ChildProcess;
  #settle: ((outcome: Outcome | null) => void) | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (outcome: Outcome) => this.#end(outcome));
    child.once("exit", () => this.#end(null));
  }

  /** Starts a process; rejects when that fails. `onExit` is called at its end, for any cause. */
  static async start(options: EvaluatorOptions, onExit: (process: MappingProcess) => void): Promise<MappingProcess> {
    const child = fork(program, [JSON.stringify(options)], {
      execArgv: [...restrictions],
      env: {},
      serialization: "advanced",
      // Ignored, as V8 prints pages about a heap that is full.
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
    // The process keeps the relay from ending only while a task runs.
    child.unref();
    child.channel?.unref();
    return started;
  }

  /** The outcome of a task; null when the process ended over it, or was ended for taking longer than `limitMs`. */
  async run(task: Task, limitMs: number): Promise<Outcome | null> {
    this.#child.channel?.ref();
    const limit = setTimeout(() => this.kill(), limitMs);
    try {
      return await new Promise<Outcome | null>((resolve) => {
        this.#settle = resolve;
        this.#child.send(task, (error) => error && this.kill());
      });
    } finally {
      clearTimeout(limit);
      this.#child.channel?.unref();
    }
  }

  /** Ends the process at once; the task under way, if any, gets null. */
  kill(): void {
    this.#child.kill("SIGKILL");
    this.#end(null);
  }

  #end(outcome: Outcome | null): void {
    this.#settle?.(outcome);
    this.#settle = undefined;
  }
}
