import type { Clock } from "../../src/ports/clock/clock.ts";
import type { Ids } from "../../src/ports/ids.ts";
import type { Engine } from "./engine.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

const begin = Date.UTC(2026, 0, 15);
/** A process that was held up goes on for so long at least. */
const breathMs = 1_000;

/** The time that clocks on walls show: it may jump. */
export class WallTime {
  /** How far clocks are ahead of the time that really went by, ms. */
  aheadMs = 0;
  /** Whether each process's clock may differ from the others'. */
  apart = true;
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** What a clock shows that differs by so much from the others, ms. */
  now(skewMs = 0): number {
    return Math.floor(begin + this.#scheduler.now + this.aheadMs + (this.apart ? skewMs : 0));
  }
}

/** Where among its questions to engines a process dies. */
interface Fatal {
  /** Questions it still asks before. */
  left: number;
  /** Whether the engine still does what it was asked. */
  readonly done: boolean;
  readonly die: () => void;
}

/**
 * One process of the relay, as the world outside sees it: it has a clock, and it asks engines. When it crashes, its
 * timers never fire and no answer reaches it any more, so that nothing of it ever goes on.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  /** Until then the process is held up: it hears nothing, and does nothing. */
  #stalledUntil = -Infinity;
  #crashed = false;
  /** How many questions it has asked engines. */
  questions = 0;
  #fatal: Fatal | undefined;
  /** Questions of one turn travel together. */
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

  /** Has it die at the question after so many more: once that has left or, if `done`, before the answer to it. */
  dieAtQuestion(left: number, done: boolean, die: () => void): void {
    this.#fatal ??= { left, done, die };
  }

  /** Holds the process up for so long, unless it is, or just was: then it would never hear the news, and false. */
  stall(ms: number): boolean {
    if (this.#scheduler.now < this.#stalledUntil + breathMs) return false;
    this.#stalledUntil = this.#scheduler.now + ms;
    return true;
  }

  /** Has something reach the process: at once, when it is no longer held up, or never. */
  hear(task: () => void): void {
    if (this.#crashed) return;
    const wait = this.#stalledUntil - this.#scheduler.now;
    if (wait > 0) this.#scheduler.after(wait, () => this.hear(task));
    else task();
  }

  /**
   * Asks an engine, which performs the request at one moment later on, or fails it, and answers later still. An
   * engine that answers one by one is asked all questions of one turn at the same moment.
   */
  ask<Answer>(engine: Engine, perform: () => Answer): Promise<Answer> {
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

  /** The question that is being asked is the last one, if this is so. */
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

  /** A request is on its way, and lies there while the engine is frozen. */
  #reach(engine: Engine, task: () => void): void {
    this.#scheduler.after(engine.delay(), () => {
      const frozenFor = engine.frozenUntil - this.#scheduler.now;
      if (frozenFor > 0) this.#scheduler.after(frozenFor, task);
      else task();
    });
  }
}
