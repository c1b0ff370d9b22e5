import { compareSync, hashSync } from "bcryptjs";
import { parentPort } from "node:worker_threads";

/** What the thread is asked; `cost` is the logarithm of the rounds. */
export type BcryptTask =
  | { readonly op: "hash"; readonly password: string; readonly cost: number }
  | { readonly op: "compare"; readonly password: string; readonly hash: string };

/** What became of the task of that id: a hash, or whether the password matches; or bcrypt's own message. */
export type BcryptAnswer =
  | { readonly id: number; readonly result: string | boolean }
  | { readonly id: number; readonly error: string };

function run(task: BcryptTask): string | boolean {
  return task.op === "hash" ? hashSync(task.password, task.cost) : compareSync(task.password, task.hash);
}

parentPort?.on("message", ({ id, task }: { readonly id: number; readonly task: BcryptTask }) => {
  let answer: BcryptAnswer;
  try {
    answer = { id, result: run(task) };
  } catch (error) {
    answer = { id, error: error instanceof Error ? error.message : "bcrypt failed" };
  }
  parentPort?.postMessage(answer);
});
