import type { MessagePort } from "node:worker_threads";
import { SlotTable } from "./slot-table.ts";
import { TurnBatcher } from "./turns.ts";

type Call = readonly [number: number, method: string, args: readonly unknown[]];
type CallAnswer = readonly [
  number: number, value: unknown, failure?: { readonly name: string; readonly message: string },
];

type Callable<Port> = { readonly [Method in keyof Port]: (...args: never[]) => Promise<unknown> };
/** The methods of a port by name, checked to be complete. */
export type MethodsOf<Port> = Readonly<Record<keyof Port, true>>;
/** A port in another thread. After `close` its calls fail. */
export type Remote<Port> = Port & { close(): void };

const mostPending = 10_000;

/** Answers the {@link remote} at the other end. Calls of one turn begin in one turn, to share one state. */
export function serve<Port extends Callable<Port>>(port: MessagePort, target: Port): void {
  const methods: Readonly<Record<string, (...args: never[]) => Promise<unknown>>> = target;
  const batcher = new TurnBatcher<CallAnswer>((answers) => port.postMessage(answers));
  const answer = async ([number, method, args]: Call): Promise<void> => {
    try {
      batcher.add([number, await methods[method]!(...(args as never[]))]);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      batcher.add([number, null, { name, message }]);
    }
  };
  port.on("message", (calls: readonly Call[]) => {
    for (const call of calls) void answer(call);
  });
}

/**
 * A client of a port that another thread {@link serve}s; errors keep name and message. `unavailable` makes the error
 * for a lost thread, too many pending calls, or a thrown error of that name.
 */
export function remote<Port extends Callable<Port>>(
  port: MessagePort, methods: MethodsOf<Port>, unavailable: (message: string) => Error,
): Remote<Port> {
  const caller = new Caller(port, unavailable);
  const calls = Object.keys(methods).map((method) =>
    [method, (...args: readonly unknown[]) => caller.call(method, args)]);
  return { ...Object.fromEntries(calls), close: () => caller.close() } as Remote<Port>;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

class Caller {
  readonly #port: MessagePort;
  readonly #unavailable: (message: string) => Error;
  readonly #batcher: TurnBatcher<Call>;
  readonly #pending = new SlotTable<Pending>();
  #closed = false;

  constructor(port: MessagePort, unavailable: (message: string) => Error) {
    this.#port = port;
    this.#unavailable = unavailable;
    this.#batcher = new TurnBatcher((calls) => port.postMessage(calls));
    port.on("message", (answers: readonly CallAnswer[]) => {
      for (const answer of answers) this.#settle(answer);
    });
    port.on("close", () => this.#lose("its thread has ended"));
  }

  call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#unavailable("closed"));
    if (this.#pending.size >= mostPending) return Promise.reject(this.#unavailable("overloaded"));
    return new Promise((resolve, reject) => {
      this.#batcher.add([this.#pending.add({ resolve, reject }), method, args]);
    });
  }

  close(): void {
    this.#lose("closed");
    this.#port.close();
  }

  #settle([number, value, failure]: CallAnswer): void {
    const pending = this.#pending.take(number);
    if (failure) pending?.reject(this.#failed(failure));
    else pending?.resolve(value);
  }

  #failed({ name, message }: { readonly name: string; readonly message: string }): Error {
    const unavailable = this.#unavailable(message);
    return name === unavailable.name ? unavailable : Object.assign(new Error(message), { name });
  }

  #lose(message: string): void {
    this.#closed = true;
    for (const { reject } of this.#pending.takeAll()) reject(this.#unavailable(message));
  }
}
