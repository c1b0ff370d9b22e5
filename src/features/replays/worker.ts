import pLimit from "p-limit";
import { sleep } from "../../kernel/ports/clock.ts";
import { RevisionConflict } from "../../kernel/ports/event-store.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import type { ReplayRun, Replaying } from "./replay-run.ts";

const together = 8;
/** The rest after a step, ms, while there is work. */
const restMs = 20;
/** A replay that may do nothing now is looked at again after this time, ms. */
const lookAgainMs = 200;

/** Carries out all replays, a step of each at a time. Two processes at once would do no event twice. */
export class Replayer {
  readonly #parts;
  readonly #runs = new Map<string, ReplayRun>();
  /** When each replay that could do nothing is looked at again, monotonic. */
  readonly #notBefore = new Map<string, number>();
  readonly #limit = pLimit(together);
  readonly #stuck: LogThrottle;

  constructor(parts: Instruments & { readonly replaying: Pick<Replaying, "unsettled" | "begin" | "isCurrent"> }) {
    this.#parts = parts;
    this.#stuck = new LogThrottle(parts.clock);
  }

  /** Works until nothing may be done at the moment, or until `isOver`. */
  async run(isOver: () => boolean): Promise<void> {
    while (!isOver() && (await this.step(isOver))) await sleep(this.#parts.clock, restMs);
  }

  /** Makes a step of each replay, until `isOver`; resolves false where none could do anything. */
  async step(isOver: () => boolean): Promise<boolean> {
    const ids = await this.#parts.replaying.unsettled();
    this.#forgetAllBut(new Set(ids));
    const worked = await Promise.all(ids.map((id) => this.#limit(() => !isOver() && this.#tryStep(id))));
    return worked.includes(true);
  }

  #forgetAllBut(ids: ReadonlySet<string>): void {
    for (const kept of [this.#runs, this.#notBefore]) {
      for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
    }
  }

  async #tryStep(id: string): Promise<boolean> {
    const { clock } = this.#parts;
    if ((this.#notBefore.get(id) ?? -Infinity) > clock.monotonic()) return false;
    const worked = await this.#step(id).catch((error: unknown) => {
      this.#runs.delete(id);
      // Another process, or a command, changed the replay meanwhile.
      if (!(error instanceof RevisionConflict)) this.#tellOfStuck(id, error);
      return false;
    });
    if (!worked) this.#notBefore.set(id, clock.monotonic() + lookAgainMs);
    return worked;
  }

  async #step(id: string): Promise<boolean> {
    const { logger, replaying } = this.#parts;
    const known = this.#runs.get(id);
    const run = known && (await replaying.isCurrent(id, known)) ? known : await replaying.begin(id);
    if (!run) return false;
    this.#runs.set(id, run);
    const worked = await run.step();
    if (run.isOver) {
      this.#runs.delete(id);
      logger.info({ replayId: id }, "a replay is through");
    }
    return worked;
  }

  #tellOfStuck(replayId: string, error: unknown): void {
    const { logger, metrics } = this.#parts;
    metrics.anomaly("replayer");
    this.#stuck.tell(
      replayId,
      () => logger.warn({ err: error, replayId }, "a replay cannot go on; it is tried again"),
      (id, times) => logger.warn({ replayId: id, times }, "a replay still cannot go on"),
    );
  }
}
