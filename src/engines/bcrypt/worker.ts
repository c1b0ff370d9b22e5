import { parentPort } from "node:worker_threads";
import { compareSync, getRounds, hashSync } from "bcryptjs";
import { hashOfNobody } from "./nobody.ts";

/** `cost`: the logarithm of the rounds, for a comparison the minimum. */
export type BcryptTask =
  | { readonly op: "hash"; readonly password: string; readonly cost: number }
  | { readonly op: "compare"; readonly password: string; readonly hash: string; readonly cost: number };

/** A hash, whether the password matches, or bcrypt's message. */
export type BcryptAnswer =
  | { readonly result: string | boolean }
  | { readonly error: string };

function run(task: BcryptTask): string | boolean {
  return task.op === "hash" ? hashSync(task.password, task.cost) : compare(task);
}

/** Takes as long for a hash of lower cost: the time must not reveal whose hash it is. */
function compare({ password, hash, cost }: Extract<BcryptTask, { op: "compare" }>): boolean {
  const same = compareSync(password, hash);
  for (let spent = getRounds(hash); spent < cost; spent += 1) compareSync(password, hashOfNobody(spent));
  return same;
}

parentPort?.on("message", (task: BcryptTask) => {
  let answer: BcryptAnswer;
  try {
    answer = { result: run(task) };
  } catch (error) {
    answer = { error: error instanceof Error ? error.message : "bcrypt failed" };
  }
  parentPort?.postMessage(answer);
});
