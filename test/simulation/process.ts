import type { Clock } from "../../src/ports/clock.ts";
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
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  now(): number {
    return Math.floor(begin + this.#scheduler.now + this.aheadMs);
  }
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
  /** Questions of one turn travel together. */
  readonly #together = new Map<Engine, { readonly step: number; readonly tasks: (() => void)[] }>();

  constructor(name: string, parts: { scheduler: Scheduler; random: Random; wall: WallTime }) {
    const { scheduler, random, wall } = parts;
    this.name = name;
    this.#scheduler = scheduler;
    this.#random = random;
    this.clock = {
      now: () => wall.now(),
      monotonic: () => scheduler.now,
      schedule: (delayMs, task) => scheduler.after(delayMs, () => this.hear(task)),
    };
    this.ids = {
      uuid: () => {
        const time = wall.now().toString(16).padStart(12, "0");
        const [a, b] = [random.hex(3), random.hex(15)];
        return `${time.slice(0, 8)}-${time.slice(8)}-7${a}-8${b.slice(0, 3)}-${b.slice(3)}`;
      },
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

  /** Holds the process up for so long, unless it is, or just was: then it would never hear the news. */
  stall(ms: number): void {
    if (this.#scheduler.now >= this.#stalledUntil + breathMs) this.#stalledUntil = this.#scheduler.now + ms;
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
      const task = () => {
        if (this.#crashed && (engine.answersTogether || this.#random.chance(0.5))) return;
        const { answer, afterMs } = engine.perform(perform);
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
