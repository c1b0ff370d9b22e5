import { compareSync, hashSync } from "bcryptjs";
import { parentPort } from "node:worker_threads";

export type BcryptTask =
  | { readonly op: "hash"; readonly password: string; readonly cost: number }
  | { readonly op: "compare"; readonly password: string; readonly hash: string };

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
