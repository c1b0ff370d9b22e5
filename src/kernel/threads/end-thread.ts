import type { Worker } from "node:worker_threads";

/** Tells a thread to end; resolves when it has ended, at once where it has died before. */
export async function endThread(thread: Worker, message: unknown): Promise<void> {
  if (thread.threadId === -1) return;
  const ended = new Promise((resolve) => thread.once("exit", resolve));
  thread.postMessage(message);
  await ended;
}
