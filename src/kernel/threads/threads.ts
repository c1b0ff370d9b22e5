import { Worker, type WorkerOptions } from "node:worker_threads";

/** A new thread for optional work; null if the system gives none, which Node reports at once, unlike other failures. */
export function newThread(script: URL, options: WorkerOptions): Worker | null {
  try {
    return new Worker(script, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_WORKER_INIT_FAILED") return null;
    throw error;
  }
}

/** Tells a thread to end; resolves when it has ended. */
export async function endThread(thread: Worker, message: unknown): Promise<void> {
  if (thread.threadId === -1) return;
  const ended = new Promise((resolve) => thread.once("exit", resolve));
  thread.postMessage(message);
  await ended;
}
