import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * A new thread for work that others can do, too; null where the system gives none, as under a limit of tasks. Node says
 * that at once, unlike whatever else keeps a thread from starting.
 */
export function newThread(script: URL, options: WorkerOptions): Worker | null {
  try {
    return new Worker(script, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_WORKER_INIT_FAILED") return null;
    throw error;
  }
}
