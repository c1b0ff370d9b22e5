import type { Origin } from "../../src/kernel/log/origin.ts";
import { Broken } from "./broken.ts";
import { describe, isExpected } from "./errors.ts";
import type { Node } from "./node.ts";
import type { Trace } from "./trace.ts";

/** All requests of callers: traces their beginning and end, and checks that their errors are expected. */
export class Requests {
  readonly #trace: Trace;
  readonly #broken: (error: unknown) => void;
  #count = 0;

  constructor({ trace, broken }: { readonly trace: Trace; readonly broken: (error: unknown) => void }) {
    this.#trace = trace;
    this.#broken = broken;
  }

  /** A number that is used only once. */
  number(): number {
    return (this.#count += 1);
  }

  /** Begins a request, and does not wait for it. */
  begin(name: string, node: Node, task: () => Promise<string | undefined>): void {
    const n = this.number();
    this.#trace.add(`${node.process.name} #${n} ${name}`);
    const done = (result: string | undefined) => this.#trace.add(`#${n} ${name} done ${result ?? ""}`);
    task().then(done, (error: unknown) => {
      this.#trace.add(`#${n} ${name} failed: ${String(error)}`);
      if (isExpected(error)) return;
      this.#broken(error instanceof Broken ? error : new Broken("only known errors", describe(error)));
    });
  }

  correlation(): string {
    return `request ${this.number()}`;
  }

  origin(): Origin {
    return { actor: { type: "anonymous" }, correlationId: this.correlation(), causationId: null };
  }
}
