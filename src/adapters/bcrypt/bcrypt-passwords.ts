import { Worker } from "node:worker_threads";
import { refuse } from "../../domain/refusal.ts";
import { passwordProblem } from "../../domain/tenant/password.ts";
import type { Passwords } from "../../ports/passwords.ts";
import { hashOfNobody } from "./nobody.ts";
import type { BcryptAnswer, BcryptTask } from "./worker.ts";

/**
 * How many tasks may wait at this cost: the last is then answered after some 25 s, and beyond 30 s most clients have
 * hung up. Fifty requests racing for one email must all fit: the losers are told only after the hashing.
 */
const mostWaiting = { tasks: 64, atCost: 12 } as const;

interface Waiting {
  readonly resolve: (result: string | boolean) => void;
  readonly reject: (error: Error) => void;
}

/**
 * bcrypt in one thread of its own, one task after the other in the order asked. `cost` is the logarithm of the
 * rounds. Throws a Refusal of kind unavailable when too many tasks wait.
 */
export class BcryptPasswords implements Passwords {
  readonly nobody: string;
  readonly #cost: number;
  readonly #most: number;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #closed = false;

  constructor(cost: number) {
    this.#cost = cost;
    // Each step of the cost doubles the time.
    this.#most = mostWaiting.tasks >> Math.max(0, cost - mostWaiting.atCost);
    this.nobody = hashOfNobody(cost);
  }

  /** Throws RangeError for what the domain says is no password. */
  async hash(password: string): Promise<string> {
    if (passwordProblem(password) !== null) throw new RangeError("not a password");
    return String(await this.#ask({ op: "hash", password, cost: this.#cost }));
  }

  async matches(password: string, hash: string): Promise<boolean> {
    const same = await this.#ask({ op: "compare", password, hash, cost: this.#cost });
    // Only now, so that a text that cannot be a password costs the same time.
    return same === true && passwordProblem(password) === null;
  }

  /** Lets what waits finish, then ends the thread. */
  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    if (!worker) return;
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    else await worker.terminate();
  }

  #ask(task: BcryptTask): Promise<string | boolean> {
    if (this.#closed) throw new Error("the password hashing is closed");
    if (this.#waiting.size >= this.#most) refuse("unavailable", "too many passwords wait to be checked");
    this.#worker ??= this.#start();
    const id = ++this.#lastId;
    const answer = new Promise<string | boolean>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    // Keeps the process alive while something waits, so that it does not end halfway.
    this.#worker.ref();
    this.#worker.postMessage({ id, task });
    return answer;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url));
    worker.on("message", (answer: BcryptAnswer) => this.#settle(worker, answer));
    worker.on("error", (error) => this.#lost(worker, error));
    worker.on("exit", () => this.#lost(worker, new Error("the password hashing thread ended")));
    return worker;
  }

  #settle(worker: Worker, answer: BcryptAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("error" in answer) waiting?.reject(new Error(answer.error));
    else waiting?.resolve(answer.result);
    if (this.#waiting.size > 0) return;
    if (this.#closed) void worker.terminate();
    else worker.unref();
  }

  /** What waited fails; the next task starts another thread. */
  #lost(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error instanceof Error ? error : new Error(String(error)));
  }
}
