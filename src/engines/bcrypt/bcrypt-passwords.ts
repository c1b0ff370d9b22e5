import { passwordProblem } from "../../kernel/callers/input-rules.ts";
import { Refusal, refuse } from "../../kernel/domain/refusal.ts";
import type { Passwords } from "../../kernel/ports/passwords.ts";
import { OccasionalThread } from "../../kernel/threads/occasional-thread.ts";
import { FairQueue } from "../../kernel/tools/fair-queue.ts";
import { hashOfNobody } from "./nobody.ts";
import type { BcryptAnswer, BcryptTask } from "./worker.ts";

/** A lone owner waits some 25 s; most clients hang up after 30 s. Fifty requests racing for one email must fit. */
const mostWaiting = { tasks: 64, atCost: 12 } as const;

const tooMany = "too many passwords wait to be checked";

interface Waiting {
  readonly task: BcryptTask;
  readonly resolve: (result: string | boolean) => void;
  readonly reject: (error: Error) => void;
}

/** bcrypt in one thread; owners take turns. `cost`: the logarithm of the rounds. Too many tasks cause a Refusal. */
export class BcryptPasswords implements Passwords {
  readonly nobody: string;
  readonly #cost: number;
  readonly #most: number;
  readonly #queue = new FairQueue<Waiting>();
  readonly #thread = new OccasionalThread<BcryptTask, BcryptAnswer>(
    new URL("./worker.ts", import.meta.url), { name: "passwords" },
    { onAnswer: (answer) => this.#settle(answer), onLost: (error) => this.#lost(error) },
  );
  readonly #finished = Promise.withResolvers<void>();
  #running: Waiting | undefined;
  #closed = false;

  constructor(cost: number) {
    this.#cost = cost;
    // Each step of the cost doubles the time.
    this.#most = mostWaiting.tasks >> Math.max(0, cost - mostWaiting.atCost);
    this.nobody = hashOfNobody(cost);
  }

  /** Throws RangeError for a text that the domain's rules refuse. */
  async hash(password: string, owner: string): Promise<string> {
    if (passwordProblem(password) !== null) throw new RangeError("not a password");
    return String(await this.#ask(owner, { op: "hash", password, cost: this.#cost }));
  }

  async matches(password: string, hash: string, owner: string): Promise<boolean> {
    const same = await this.#ask(owner, { op: "compare", password, hash, cost: this.#cost });
    // Checked last, so that impossible passwords take the same time.
    return same === true && passwordProblem(password) === null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#running) await this.#finished.promise;
    await this.#thread.end();
  }

  #ask(owner: string, task: BcryptTask): Promise<string | boolean> {
    if (this.#closed) throw new Error("the password hashing is closed");
    if (this.#running && this.#queue.size + 1 >= this.#most) this.#makeRoom(owner);
    return new Promise((resolve, reject) => {
      this.#queue.push(owner, { task, resolve, reject });
      if (!this.#running) this.#next();
    });
  }

  /** Rejects the newest task of the owner with the most. Throws a Refusal if this owner would then have as many. */
  #makeRoom(owner: string): void {
    const dropped = this.#queue.takeForRoom(owner, 1) ?? refuse("unavailable", tooMany);
    dropped.reject(new Refusal("unavailable", tooMany));
  }

  #next(): void {
    this.#running = this.#queue.take();
    if (!this.#running) this.#rest();
    else if (!this.#thread.post(this.#running.task)) this.#lost(new Error("the system gives no thread"));
  }

  #rest(): void {
    this.#thread.rest();
    if (this.#closed) this.#finished.resolve();
  }

  #settle(answer: BcryptAnswer): void {
    const done = this.#running;
    this.#next();
    if ("error" in answer) done?.reject(new Error(answer.error));
    else done?.resolve(answer.result);
  }

  /** Fails all tasks; the next one starts another thread. */
  #lost(error: Error): void {
    const waiting = [...(this.#running ? [this.#running] : []), ...this.#queue.clear()];
    this.#running = undefined;
    for (const { reject } of waiting) reject(error);
    this.#rest();
  }
}
