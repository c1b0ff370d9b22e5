import { syncBuiltinESMExports } from "node:module";
import workerThreads from "node:worker_threads";

/** Runs with no thread to be had, as Node 24 says it under a limit of tasks (seen with `pids.max`). */
export async function withoutThreads<Result>(run: () => Result | Promise<Result>): Promise<Result> {
  const { Worker } = workerThreads;
  const without = (use: typeof Worker) => {
    workerThreads.Worker = use;
    syncBuiltinESMExports();
  };
  without(function none() {
    throw Object.assign(new Error("EAGAIN"), { code: "ERR_WORKER_INIT_FAILED" });
  } as unknown as typeof Worker);
  try {
    return await run();
  } finally {
    without(Worker);
  }
}
