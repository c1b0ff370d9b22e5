import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/telemetry.ts";
import { Loop } from "../workers/loop.ts";
import type { OutsideEngine } from "./engines/settings.ts";

const everyMs = 1_000;
const startPatienceMs = 60_000;

interface EngineWatchParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Asks the engines outside of this process every second whether they are there. */
export class EngineWatch {
  readonly #engines: readonly OutsideEngine[];
  readonly #parts: EngineWatchParts;
  readonly #loop: Loop;
  #away: ReadonlySet<string> = new Set();

  constructor(engines: readonly OutsideEngine[], parts: EngineWatchParts) {
    this.#engines = engines;
    this.#parts = parts;
    this.#loop = new Loop(parts.clock, async () => {
      await this.#look();
      return everyMs;
    });
  }

  /** Waits until every engine answers, and watches on. Rejects, naming who does not, after a minute. */
  async start(): Promise<void> {
    const { clock } = this.#parts;
    const end = clock.monotonic() + startPatienceMs;
    for (await this.#look(); this.#away.size > 0 && !this.#loop.stopped; await this.#look()) {
      if (clock.monotonic() > end) throw new Error(`${[...this.#away].join(", ")} cannot be reached`);
      await this.#loop.rest(everyMs);
    }
    this.#loop.start(everyMs);
  }

  /** Resolves when no engine is being asked any more. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Whether an engine answered when last asked. */
  answers({ name }: OutsideEngine): boolean {
    return !this.#away.has(name);
  }

  async #look(): Promise<void> {
    const before = this.#away;
    const away = await Promise.all(this.#engines.map(async (engine) => {
      const reason = await engine.ping().then(() => null, (error: unknown) => error);
      const { logger } = this.#parts;
      if (reason === null && before.has(engine.name)) logger.info({ engine: engine.name }, "an engine answers again");
      if (reason !== null && !before.has(engine.name)) {
        logger.warn({ err: reason, engine: engine.name }, "an engine does not answer");
      }
      return reason === null ? [] : [engine.name];
    }));
    this.#away = new Set(away.flat());
  }
}
