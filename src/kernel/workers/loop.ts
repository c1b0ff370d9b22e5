import { type Clock, Pause } from "../ports/clock.ts";
import type { Instruments, Anomaly } from "../ports/telemetry.ts";

/** A task done again and again in the background, one time after the other, from its start to its stop. */
export class Loop {
  readonly #task: () => Promise<number | null>;
  readonly #pause: Pause;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  /** The task resolves with the rest before it runs again, ms, or with null after the last time; it must not reject. */
  constructor(clock: Clock, task: () => Promise<number | null>) {
    this.#task = task;
    this.#pause = new Pause(clock);
  }

  start(restMs = 0): void {
    this.#running = this.#run(restMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pause.end();
    await this.#running;
  }

  /** Whether the loop was told to stop; a long task checks this now and then. */
  get stopped(): boolean {
    return this.#stopped;
  }

  async rest(ms: number): Promise<void> {
    if (ms > 0 && !this.#stopped) await this.#pause.wait(ms);
  }

  async #run(firstRestMs: number): Promise<void> {
    for (let restMs: number | null = firstRestMs; restMs !== null; restMs = await this.#task()) {
      await this.rest(restMs);
      if (this.#stopped) return;
    }
  }
}

/** A role that repeats its task `everyMs` after each time. A failure counts as the anomaly `name`. */
export function repeating(
  { clock, logger, metrics }: Instruments,
  { name, everyMs, firstMs = everyMs }: { readonly name: Anomaly; readonly everyMs: number; readonly firstMs?: number },
  task: (isOver: () => boolean) => Promise<void>,
): Role {
  const loop: Loop = new Loop(clock, async () => {
    await task(() => loop.stopped).catch((error: unknown) => {
      metrics.anomaly(name);
      logger.warn({ err: error, task: name }, "work in the background failed; it is done again");
    });
    return everyMs;
  });
  return { start: () => loop.start(firstMs), stop: () => loop.stop() };
}

/** A part of the service that runs from its start to its stop, once. */
export interface Role {
  /** Resolves when it works, or rejects with the reason why it cannot; {@link stop} may be called either way. */
  start(): void | Promise<void>;
  /** Starts nothing more and resolves when all work under way is done; deliveries are waited for `patienceMs`. */
  stop(patienceMs: number): Promise<void>;
}
