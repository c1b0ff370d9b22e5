import type { Clock, Timer } from "../../../../src/kernel/ports/clock.ts";
import { LogUnavailable } from "../../../../src/kernel/ports/event-store.ts";
import { SlotTable } from "../../../../src/kernel/threads/slot-table.ts";
import type { RequestAnswer } from "./protocol.ts";

const mostPending = 100_000;

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: Timer;
}

/** Requests to the log's threads, each under its own number until it is answered. */
export class PendingRequests {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #pending = new SlotTable<Pending>();

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Sends a request under a number; resolves to its answer. Rejects with LogUnavailable. */
  ask(send: (number: number) => void, timeoutMs = this.#timeoutMs): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#pending.size >= mostPending) throw new LogUnavailable("too many requests wait for the log");
      const deadline = this.#clock.schedule(timeoutMs, () => {
        this.#pending.take(number)?.reject(new LogUnavailable("the log did not answer in time"));
      });
      const number = this.#pending.add({ resolve, reject, deadline });
      send(number);
    });
  }

  /** Late answers are ignored. */
  settle(answer: RequestAnswer): void {
    const pending = this.#pending.take(answer.request);
    pending?.deadline.cancel();
    if (answer.kind === "answer") pending?.resolve(answer.result);
    else pending?.reject(new LogUnavailable(`the log failed: ${answer.reason}`));
  }

  settleAll(answers: readonly RequestAnswer[]): void {
    for (const answer of answers) this.settle(answer);
  }

  fail(error: LogUnavailable): void {
    for (const { deadline, reject } of this.#pending.takeAll()) {
      deadline.cancel();
      reject(error);
    }
  }
}
