import { sleep } from "../kernel/ports/clock.ts";
import type { Instruments } from "../kernel/ports/telemetry.ts";
import { Loop } from "../kernel/workers/loop.ts";
import type { ProcessRole } from "./config/config.ts";
import type { WatchedEngine } from "./engines/settings.ts";

interface Signs {
  readonly needed: readonly WatchedEngine[];
  readonly watch: Pick<EngineWatch, "answers" | "awayText">;
  readonly following: { readonly isFollowed: boolean };
}

/** Roles that need the queue. The API does not: events that it accepts are delivered later. */
const queueing: readonly ProcessRole[] = ["forwarder", "delivery", "sweeper"];
const everyMs = 1_000;
const startPatienceMs = 60_000;
/** The silence, ms, after which a failed ping counts: busy engines pause for seconds. */
const silenceMs = 7_000;

/** Checks every second that the engines answer and can do their work. */
export class EngineWatch {
  readonly #engines: readonly WatchedEngine[];
  readonly #instruments: Instruments;
  readonly #loops: readonly Loop[];
  readonly #away = new Map<string, unknown>();

  constructor(engines: readonly WatchedEngine[], instruments: Instruments) {
    this.#engines = engines;
    this.#instruments = instruments;
    this.#loops = engines.map((engine) => new Loop(instruments.clock, async () => {
      await this.#look(engine);
      return everyMs;
    }));
  }

  /** Waits until the needed engines answer. Rejects after a minute, and at once with the error of an unfit engine. */
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

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  answers({ name }: WatchedEngine): boolean {
    return !this.#away.has(name);
  }

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
      // Any recent answer proves that the engine works.
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

  #silentMs({ answeredAt }: WatchedEngine): number {
    return this.#instruments.clock.monotonic() - (answeredAt?.() ?? -Infinity);
  }
}

/** The engines that a process with these roles needs. */
export function neededBy(
  roles: ReadonlySet<ProcessRole>, watched: readonly WatchedEngine[],
): readonly WatchedEngine[] {
  const needsQueue = !roles.has("api") && queueing.some((role) => roles.has(role));
  return watched.filter(({ isQueue }) => !isQueue || needsQueue);
}

/** The problem that keeps this process from its work; null if there is none. */
export function readiness({ needed, watch, following }: Signs): string | null {
  const away = needed.filter((engine) => !watch.answers(engine));
  if (away.length > 0) return away.map((engine) => watch.awayText(engine)).join(", ");
  return following.isFollowed ? null : "the log is not followed";
}
