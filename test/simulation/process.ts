import type { Clock } from "../../src/kernel/ports/clock.ts";
import type { Ids } from "../../src/kernel/ports/ids.ts";
import type { Engine } from "./engine.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

const begin = Date.UTC(2026, 0, 15);
/** The shortest time between two stalls of a process. */
const breathMs = 1_000;

/** The wall-clock time, which may jump. */
export class WallTime {
  /** How far clocks are ahead of true time, ms. */
  aheadMs = 0;
  /** Whether the clocks of processes may differ. */
  apart = true;
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** The time of a clock that is `skewMs` ahead of the others. */
  now(skewMs = 0): number {
    return Math.floor(begin + this.#scheduler.now + this.aheadMs + (this.apart ? skewMs : 0));
  }
}

/** The request to an engine at which a process dies. */
interface Fatal {
  /** The number of requests before that. */
  left: number;
  /** Whether the engine still performs the request. */
  readonly done: boolean;
  readonly die: () => void;
}

/**
 * One process of the relay as seen from outside: it has a clock, and sends requests to engines. After a crash its
 * timers do not fire and no answer reaches it, so that none of its code runs again.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  /** Until then the process is stalled: its timers do not fire, and no answer reaches it. */
  #stalledUntil = -Infinity;
  #crashed = false;
  /** The number of its requests to engines. */
  questions = 0;
  #fatal: Fatal | undefined;
  /** Requests of one turn, which travel together. */
  readonly #together = new Map<Engine, { readonly step: number; readonly tasks: (() => void)[] }>();

  /** `skewMs`: how far its clock is ahead of the others. */
  constructor(name: string, parts: { scheduler: Scheduler; random: Random; wall: WallTime; skewMs: number }) {
    const { scheduler, random, wall, skewMs } = parts;
    this.name = name;
    this.#scheduler = scheduler;
    this.#random = random;
    this.clock = {
      now: () => wall.now(skewMs),
      monotonic: () => scheduler.now,
      schedule: (delayMs, task) => scheduler.after(delayMs, () => this.hear(task)),
    };
    const salts = random.fork("salts");
    this.ids = {
      uuid: () => {
        const time = wall.now(skewMs).toString(16).padStart(12, "0");
        const [a, b] = [random.hex(3), random.hex(15)];
        return `${time.slice(0, 8)}-${time.slice(8)}-7${a}-8${b.slice(0, 3)}-${b.slice(3)}`;
      },
      salt: () => Buffer.from(salts.bytes(16)).toString("base64url"),
      secretBytes: (length) => random.bytes(length),
      random: () => random.next(),
    };
  }

  get crashed(): boolean {
    return this.#crashed;
  }

  crash(): void {
    this.#crashed = true;
  }

  /** Lets the process die at the request after `left` further ones: before it is performed or, if `done`, after. */
  dieAtQuestion(left: number, done: boolean, die: () => void): void {
    this.#fatal ??= { left, done, die };
  }

  /** Stalls the process; false, without effect, if it is or just was stalled: else it might never hear any news. */
  stall(ms: number): boolean {
    if (this.#scheduler.now < this.#stalledUntil + breathMs) return false;
    this.#stalledUntil = this.#scheduler.now + ms;
    return true;
  }

  /** Runs a task in the process: at once, after its stall, or never if it has crashed. */
  hear(task: () => void): void {
    if (this.#crashed) return;
    const wait = this.#stalledUntil - this.#scheduler.now;
    if (wait > 0) this.#scheduler.after(wait, () => this.hear(task));
    else task();
  }

  /**
   * Sends a request to an engine, which performs or fails it at a later moment, and answers after that. An engine with
   * `answersTogether` receives all requests of one turn at the same moment.
   */
  ask<Result>(engine: Engine, perform: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.questions += 1;
      const fatal = this.#isFatal();
      const task = () => {
        if (fatal?.done === false) return fatal.die();
        if (this.#crashed && (engine.answersTogether || this.#random.chance(0.5))) return;
        const { answer, afterMs } = engine.perform(perform);
        fatal?.die();
        const settle = () => this.hear(() => {
          if ("error" in answer) reject(answer.error);
          else resolve(answer.value);
        });
        if (afterMs === 0) settle();
        else this.#scheduler.after(afterMs, settle);
      };
      if (engine.answersTogether) this.#join(engine, task);
      else this.#reach(engine, task);
    });
  }

  /** The death that belongs to the present request, if any. */
  #isFatal(): Fatal | undefined {
    const fatal = this.#fatal;
    if (!fatal) return undefined;
    fatal.left -= 1;
    return fatal.left === -1 ? fatal : undefined;
  }

  #join(engine: Engine, task: () => void): void {
    const { steps } = this.#scheduler;
    const waiting = this.#together.get(engine);
    if (waiting?.step === steps) {
      waiting.tasks.push(task);
      return;
    }
    const tasks = [task];
    this.#together.set(engine, { step: steps, tasks });
    this.#reach(engine, () => {
      for (const one of tasks) one();
    });
  }

  /** Takes a request to an engine; it waits there while the engine is frozen. */
  #reach(engine: Engine, task: () => void): void {
    this.#scheduler.after(engine.delay(), () => {
      const frozenFor = engine.frozenUntil - this.#scheduler.now;
      if (frozenFor > 0) this.#scheduler.after(frozenFor, task);
      else task();
    });
  }
}
