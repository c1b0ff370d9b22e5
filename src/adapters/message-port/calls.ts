import type { MessagePort } from "node:worker_threads";

type Call = readonly [number: number, method: string, args: readonly unknown[]];
type Answer = readonly [number: number, value: unknown, failure?: { readonly name: string; readonly message: string }];
type Methods = Readonly<Record<string, (...args: readonly never[]) => Promise<unknown>>>;

/** What is sent within one turn of the event loop goes as one message. */
class Outbox<Item> {
  readonly #port: MessagePort;
  #items: Item[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
  }

  add(item: Item): void {
    if (this.#items.push(item) === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const items = this.#items;
    this.#items = [];
    this.#port.postMessage(items);
  }
}

/**
 * Answers the calls that come through a port. Calls made in one turn are begun in one turn, so that
 * methods that answer at once answer them all from the same state.
 */
export function answerCalls(port: MessagePort, methods: Methods): void {
  const outbox = new Outbox<Answer>(port);
  const answer = async ([number, method, args]: Call): Promise<void> => {
    try {
      outbox.add([number, await methods[method]?.(...(args as never[]))]);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      outbox.add([number, null, { name, message }]);
    }
  };
  port.on("message", (calls: readonly Call[]) => {
    for (const call of calls) void answer(call);
  });
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Calls what {@link answerCalls} serves at the other end of a port. */
export class Caller {
  readonly #port: MessagePort;
  readonly #unavailable: (message: string) => Error;
  readonly #maxPending: number;
  readonly #outbox: Outbox<Call>;
  readonly #pending = new Map<number, Pending>();
  #number = 0;
  #closed = false;

  /**
   * `unavailable` makes the error for a call that cannot be answered: the other end is gone, more than
   * `maxPending` calls are under way, or the other end failed with an error of that name itself.
   */
  constructor(port: MessagePort, unavailable: (message: string) => Error, options: { readonly maxPending: number }) {
    this.#port = port;
    this.#unavailable = unavailable;
    this.#maxPending = options.maxPending;
    this.#outbox = new Outbox(port);
    port.on("message", (answers: readonly Answer[]) => {
      for (const answer of answers) this.#settle(answer);
    });
    port.on("close", () => this.#lose("its thread has ended"));
  }

  /**
   * Resolves to what the method answers. Rejects with the `unavailable` error, or with an Error that has the name and
   * message of what the method threw.
   */
  call(method: string, ...args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#unavailable("closed"));
    if (this.#pending.size >= this.#maxPending) return Promise.reject(this.#unavailable("overloaded"));
    return new Promise((resolve, reject) => {
      this.#number += 1;
      this.#pending.set(this.#number, { resolve, reject });
      this.#outbox.add([this.#number, method, args]);
    });
  }

  /** Calls still under way fail. */
  close(): void {
    this.#lose("closed");
    this.#port.close();
  }

  #settle([number, value, failure]: Answer): void {
    const pending = this.#pending.get(number);
    this.#pending.delete(number);
    if (failure) pending?.reject(this.#failed(failure));
    else pending?.resolve(value);
  }

  #failed({ name, message }: { readonly name: string; readonly message: string }): Error {
    const unavailable = this.#unavailable(message);
    return name === unavailable.name ? unavailable : Object.assign(new Error(message), { name });
  }

  #lose(message: string): void {
    this.#closed = true;
    for (const { reject } of this.#pending.values()) reject(this.#unavailable(message));
    this.#pending.clear();
  }
}
