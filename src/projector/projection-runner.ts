import type { Position } from "../kernel/ports/event-store.ts";
import { Loop } from "../kernel/workers/loop.ts";
import { Progress } from "./progress.ts";
import { ProjectionRun, type ProjectionParts } from "./projection-run.ts";

const shutOutPauseMs = 1_000;

/**
 * Keeps the read models up with the log: projects entries in batches, each applied with its checkpoint. A stream with
 * an unreadable entry is quarantined from that entry on. Purged events are cleared away in between. Everything is
 * rebuilt if the definitions differ from the stored ones, or the log ends before the checkpoint.
 */
export class ProjectionRunner {
  readonly #parts: ProjectionParts;
  readonly #progress = new Progress();
  #run: ProjectionRun | undefined;
  #loop: Loop | undefined;

  constructor(parts: ProjectionParts) {
    this.#parts = parts;
  }

  /**
   * Begins to follow the log. Each failure is retried until {@link stop}. Where another process has written the read
   * models meanwhile, and after {@link restart}, a new run begins.
   */
  start(): void {
    this.#loop = new Loop(this.#parts.clock, async () => {
      this.#run = new ProjectionRun(this.#parts, this.#progress);
      await this.#run.run();
      // The process that took over may be about to stop.
      return shutOutPauseMs;
    });
    this.#loop.start();
  }

  /** Resolves when nothing is being written any more. Entries not applied yet are read again at the next start. */
  async stop(): Promise<void> {
    this.#run?.end();
    await this.#loop?.stop();
  }

  /** The read models were lost by the error: they are rebuilt. */
  restart(error: unknown): void {
    this.#parts.metrics.anomaly("projection");
    this.#parts.logger.error({ err: error }, "the read models are damaged: they are built again");
    this.#run?.end();
  }

  /** A caller waits for `position`: no batch is delayed until that is projected. */
  flush(position: Position): void {
    this.#progress.want(position);
    if (this.#progress.isAwaited) this.#run?.flush();
  }

  /** Resolves once the read models cover `position`. */
  drained(position: Position): Promise<void> {
    this.flush(position);
    return this.#progress.covered(position);
  }

  /**
   * Drops the read models and builds them from the log, while nobody queries them; resolves when they cover it. Not
   * between {@link start} and {@link stop}.
   */
  async rebuild(): Promise<void> {
    this.#run = new ProjectionRun(this.#parts, this.#progress);
    await this.#run.rebuild();
  }
}
