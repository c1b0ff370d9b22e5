import type { Clock } from "../ports/clock.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
import { Loop } from "../workers/loop.ts";
import type { WatchedEngine } from "./engines/settings.ts";

const everyMs = 1_000;
const startPatienceMs = 60_000;

interface EngineWatchParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
}

/** Asks the engines that may be away every second whether they are there, and can do their work. */
export class EngineWatch {
  readonly #engines: readonly WatchedEngine[];
  readonly #parts: EngineWatchParts;
  readonly #loop: Loop;
  /** Who did not answer when last asked, with what the asking was rejected. */
  #away: ReadonlyMap<string, unknown> = new Map();

  constructor(engines: readonly WatchedEngine[], parts: EngineWatchParts) {
    this.#engines = engines;
    this.#parts = parts;
    this.#loop = new Loop(parts.clock, async () => {
      await this.#look();
      return everyMs;
    });
  }

  /** Waits until all that are needed answer, and watches on. Rejects, naming who of them does not, after a minute. */
  async start(needed: readonly WatchedEngine[]): Promise<void> {
    const { clock } = this.#parts;
    const end = clock.monotonic() + startPatienceMs;
    const missing = () => needed.filter((engine) => !this.answers(engine)).map(({ name }) => name);
    for (await this.#look(); missing().length > 0 && !this.#loop.stopped; await this.#look()) {
      if (clock.monotonic() > end) throw new Error(`${missing().join(", ")} cannot be reached`);
      await this.#loop.rest(everyMs);
    }
    this.#loop.start(everyMs);
  }

  /** Resolves when no engine is being asked any more. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Whether an engine answered when last asked. */
  answers({ name }: WatchedEngine): boolean {
    return !this.#away.has(name);
  }

  /** Why this process cannot work, for want of an engine that did not answer when last asked. */
  awayText({ name, awayText }: WatchedEngine): string {
    return awayText?.(this.#away.get(name)) ?? `no answer from ${name}`;
  }

  async #look(): Promise<void> {
    const before = this.#away;
    const away = await Promise.all(this.#engines.map(async (engine) => {
      const reason = await engine.ping().then(() => null, (error: unknown) => error);
      const { logger, metrics } = this.#parts;
      if (reason === null && before.has(engine.name)) logger.info({ engine: engine.name }, "an engine is back");
      if (reason !== null && !before.has(engine.name)) {
        metrics.trouble("engine away");
        logger.warn({ err: reason, engine: engine.name }, "an engine is away");
      }
      return reason === null ? [] : [[engine.name, reason] as const];
    }));
    this.#away = new Map(away.flat());
  }
}
