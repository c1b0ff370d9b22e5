import type { Position } from "../kernel/ports/event-store.ts";
import { Loop } from "../kernel/workers/loop.ts";
import { Progress, ProjectionRun, type ProjectionParts } from "./projection-run.ts";

const shutOutPauseMs = 1_000;

/**
 * Keeps the read models up to date with the log. It rebuilds them if their definitions changed, or if the log ends
 * before the checkpoint; it quarantines a stream from its first unreadable entry on.
 */
export class ProjectionRunner {
  readonly #parts: ProjectionParts;
  readonly #progress = new Progress();
  #run: ProjectionRun | undefined;
  #loop: Loop | undefined;

  constructor(parts: ProjectionParts) {
    this.#parts = parts;
  }

  /** Follows the log until {@link stop}. A new run begins after {@link restart}, or if another process took over. */
  start(): void {
    this.#loop = new Loop(this.#parts.clock, async () => {
      this.#run = new ProjectionRun(this.#parts, this.#progress);
      await this.#run.run();
      // The process that took over may be about to stop.
      return shutOutPauseMs;
    });
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#run?.end();
    await this.#loop?.stop();
  }

  /** Begins a new run after damage to the read models, which then are rebuilt. */
  restart(error: unknown): void {
    this.#parts.metrics.anomaly("projection");
    this.#parts.logger.error({ err: error }, "the read models are damaged: they are built again");
    this.#run?.end();
  }

  /** Projects up to `position` without batch delays, since a caller waits. */
  flush(position: Position): void {
    this.#progress.want(position);
    if (this.#progress.isAwaited) this.#run?.flush();
  }

  /** Resolves once the read models cover `position`. */
  drained(position: Position): Promise<void> {
    this.flush(position);
    return this.#progress.covered(position);
  }

  /** Builds the read models from the log while nobody queries them. Not between {@link start} and {@link stop}. */
  async rebuild(): Promise<void> {
    this.#run = new ProjectionRun(this.#parts, this.#progress);
    await this.#run.rebuild();
  }
}
