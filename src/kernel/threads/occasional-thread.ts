import { Worker, type WorkerOptions } from "node:worker_threads";
import { endThread } from "./threads.ts";

/** A thread takes 8 MiB before it does anything; to start another takes some 40 ms of a core. */
const restMs = 30_000;

/** The callbacks of the owner of a thread. */
export interface ThreadOwner<Answer> {
  readonly onAnswer: (answer: Answer) => void;
  /** The thread ended by itself: nothing that it was posted will be answered. The next message starts another. */
  readonly onLost: (error: Error) => void;
}

/** A thread for work that comes now and then: a message starts it, and after a time at rest it ends. */
export class OccasionalThread<Message, Answer = never> {
  readonly #script: URL;
  readonly #options: WorkerOptions;
  readonly #owner: ThreadOwner<Answer>;
  readonly #restMs: number;
  #worker: Worker | undefined;
  #resting: NodeJS.Timeout | undefined;

  constructor(script: URL, options: WorkerOptions, owner: ThreadOwner<Answer>, rest = restMs) {
    this.#script = script;
    this.#options = options;
    this.#owner = owner;
    this.#restMs = rest;
  }

  /** False if the system gives no thread. The process waits for the thread until {@link rest}. */
  post(message: Message): boolean {
    clearTimeout(this.#resting);
    const worker = (this.#worker ??= this.#start());
    worker?.ref();
    worker?.postMessage(message);
    return worker !== undefined;
  }

  /** Call when nothing that was posted is under way: the thread ends unless more is posted in time. */
  rest(): void {
    clearTimeout(this.#resting);
    if (!this.#worker) return;
    this.#worker.unref();
    this.#resting = setTimeout(() => void this.end(), this.#restMs).unref();
  }

  /** Ends the thread at once, or lets it end by itself at a last message. Resolves when it has ended. */
  async end(last?: Message): Promise<void> {
    clearTimeout(this.#resting);
    const worker = this.#worker;
    if (worker && last !== undefined) return endThread(worker, last);
    this.#worker = undefined;
    await worker?.terminate();
  }

  #start(): Worker | undefined {
    const worker = newThread(this.#script, this.#options);
    worker?.on("message", this.#owner.onAnswer);
    worker?.once("error", (error) => this.#ended(worker, error instanceof Error ? error : new Error(String(error))));
    worker?.once("exit", () => this.#ended(worker, new Error("the thread ended")));
    return worker;
  }

  #ended(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#owner.onLost(error);
  }
}

/** Undefined if the system gives no thread, which Node reports at once, unlike other failures. */
function newThread(script: URL, options: WorkerOptions): Worker | undefined {
  try {
    return new Worker(script, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_WORKER_INIT_FAILED") return undefined;
    throw error;
  }
}
