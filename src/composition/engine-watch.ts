import { sleep } from "../ports/clock/sleep.ts";
import type { Instruments } from "../ports/telemetry.ts";
import { Loop } from "../workers/loop.ts";
import type { WatchedEngine } from "./engines/settings.ts";

const everyMs = 1_000;
const startPatienceMs = 60_000;

/** Checks every second whether the engines that may be unavailable answer and can do their work. */
export class EngineWatch {
  readonly #engines: readonly WatchedEngine[];
  readonly #instruments: Instruments;
  /** One for each engine: none waits for another's answer. */
  readonly #loops: readonly Loop[];
  /** The engines that did not answer when last asked, each with its error. */
  readonly #away = new Map<string, unknown>();

  constructor(engines: readonly WatchedEngine[], instruments: Instruments) {
    this.#engines = engines;
    this.#instruments = instruments;
    this.#loops = engines.map((engine) => new Loop(instruments.clock, async () => {
      await this.#look(engine);
      return everyMs;
    }));
  }

  /**
   * Waits until all needed engines answer, and goes on watching. Rejects after a minute, naming the engines that do not
   * answer, and at once with the error of an unfit engine.
   */
  async start(needed: readonly WatchedEngine[]): Promise<void> {
    const { clock } = this.#instruments;
    const end = clock.monotonic() + startPatienceMs;
    const missing = () => needed.filter((engine) => !this.answers(engine)).map(({ name }) => name);
    for (await this.#lookAtAll(); missing().length > 0; await this.#lookAtAll()) {
      const unfit = needed.find(({ name, isUnfit }) => isUnfit?.(this.#away.get(name)));
      if (unfit) throw this.#away.get(unfit.name);
      if (clock.monotonic() > end) throw new Error(`${missing().join(", ")} cannot be reached`);
      await sleep(clock, everyMs);
    }
    for (const loop of this.#loops) loop.start(everyMs);
  }

  /** Resolves when no check is under way any more. */
  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  /** Whether an engine answered when last asked. */
  answers({ name }: WatchedEngine): boolean {
    return !this.#away.has(name);
  }

  /** The reason why this process cannot work without an engine that did not answer when last asked. */
  awayText({ name, awayText }: WatchedEngine): string {
    return awayText?.(this.#away.get(name)) ?? `no answer from ${name}`;
  }

  async #lookAtAll(): Promise<void> {
    await Promise.all(this.#engines.map((engine) => this.#look(engine)));
  }

  async #look(engine: WatchedEngine): Promise<void> {
    const { name } = engine;
    const { logger, metrics } = this.#instruments;
    try {
      await engine.ping();
      if (this.#away.delete(name)) logger.info({ engine: name }, "an engine is back");
    } catch (error) {
      if (!this.#away.has(name)) {
        metrics.anomaly("engine away");
        logger.warn({ err: error, engine: name }, "an engine is away");
      }
      this.#away.set(name, error);
    }
  }
}
