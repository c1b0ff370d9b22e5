import type { Random } from "./random.ts";

/** How an engine behaves: delays in ms, shares of requests from 0 to 1. */
export interface Condition {
  /** The usual time to the engine, and from it. */
  readonly usualMs: number;
  readonly slow: number;
  readonly slowMs: number;
  readonly failBefore: number;
  readonly failAfter: number;
}

/** Without delays and failures. */
export const calm: Condition = { usualMs: 1, slow: 0, slowMs: 0, failBefore: 0, failAfter: 0 };

type EngineReply<Value> = { readonly value: Value } | { readonly error: Error };

/** The way between a process and a simulated engine: it takes time, and may fail in either direction. */
export class Engine {
  readonly name: string;
  /** Whether requests of one turn are answered from one state. */
  readonly answersTogether: boolean;
  condition: Condition = calm;
  /** Unavailable to all processes. */
  down = false;
  /** Until then it performs no requests, ms of the simulation. */
  frozenUntil = 0;
  readonly #random: Random;
  readonly #unavailable: (message: string) => Error;

  constructor(
    name: string,
    parts: { readonly random: Random; readonly unavailable: (message: string) => Error; readonly together?: true },
  ) {
    this.name = name;
    this.#random = parts.random;
    this.#unavailable = parts.unavailable;
    this.answersTogether = parts.together ?? false;
  }

  /** The travel time of a request or an answer, ms. */
  delay(): number {
    const { usualMs, slow, slowMs } = this.condition;
    if (this.#random.chance(slow)) {
      return this.#random.chance(0.5) ? this.#random.spread(usualMs, slowMs) : this.#random.between(slowMs / 2, slowMs);
    }
    return this.#random.between(0.05, usualMs);
  }

  /** Performs a request, unless it fails before; the answer may be lost afterwards. */
  perform<Value>(request: () => Value): { readonly answer: EngineReply<Value>; readonly afterMs: number } {
    const { failBefore, failAfter } = this.condition;
    const afterMs = this.#random.chance(0.5) ? 0 : this.delay();
    const unavailable = () => ({ error: this.#unavailable(`${this.name} does not answer`) });
    if (this.down || this.#random.chance(failBefore)) return { answer: unavailable(), afterMs };
    try {
      const value = request();
      return { answer: this.#random.chance(failAfter) ? unavailable() : { value }, afterMs };
    } catch (error) {
      return { answer: { error: error instanceof Error ? error : new Error(String(error)) }, afterMs };
    }
  }
}
