import { sleep } from "../kernel/ports/clock.ts";
import type { Instruments } from "../kernel/ports/telemetry.ts";
import { Loop } from "../kernel/workers/loop.ts";
import type { WatchedEngine } from "./engines/settings.ts";

const everyMs = 1_000;
const startPatienceMs = 60_000;
/** An engine whose pings fail is away once it has answered nothing for so long, ms: busy ones pause for seconds. */
const silenceMs = 7_000;

/** Checks every second whether the engines that may be unavailable answer and can do their work. */
export class EngineWatch {
  readonly #engines: readonly WatchedEngine[];
  readonly #instruments: Instruments;
  /** One for each engine: none waits for another's answer. */
  readonly #loops: readonly Loop[];
  /** The engines that are away, each with the error of its last ping. */
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

  /** Whether an engine is there: it answers, or did so lately. */
  answers({ name }: WatchedEngine): boolean {
    return !this.#away.has(name);
  }

  /** The reason why this process cannot work without an engine that is away. */
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
      // Its other answers prove that it lives.
      if (this.#silentMs(engine) >= everyMs) await engine.ping();
      if (this.#away.delete(name)) logger.info({ engine: name }, "an engine is back");
    } catch (error) {
      if (this.#silentMs(engine) < silenceMs) return;
      if (!this.#away.has(name)) {
        metrics.anomaly("engine away");
        logger.warn({ err: error, engine: name }, "an engine is away");
      }
      this.#away.set(name, error);
    }
  }

  /** For how long an engine has answered nothing, ms. */
  #silentMs({ answeredAt }: WatchedEngine): number {
    return this.#instruments.clock.monotonic() - (answeredAt?.() ?? -Infinity);
  }
}
