import { createHash } from "node:crypto";
import type { Scheduler } from "./scheduler.ts";

const kept = 60;

/** The trace of a run, in order: the newest lines, and a hash over all lines. */
export class Trace {
  readonly #scheduler: Scheduler;
  readonly #hash = createHash("sha256");
  readonly #print: ((line: string) => void) | undefined;
  readonly #last: string[] = [];

  /** `print` is called with every line. */
  constructor(scheduler: Scheduler, print?: (line: string) => void) {
    this.#scheduler = scheduler;
    this.#print = print;
  }

  add(line: string): void {
    const timed = `${this.#scheduler.now.toFixed(3)} ${line}`;
    this.#hash.update(`${timed}\n`);
    this.#print?.(timed);
    this.#last.push(timed);
    if (this.#last.length > 2 * kept) this.#last.splice(0, kept);
  }

  /** The newest lines, oldest first. */
  get last(): readonly string[] {
    return this.#last.slice(-kept);
  }

  /** Over all lines so far; call once, at the end. */
  digest(): string {
    return this.#hash.update(`${this.#scheduler.steps} steps`).digest("hex");
  }
}

/** An id as the trace shows it. */
export function short(id: string): string {
  return id.slice(-6);
}
