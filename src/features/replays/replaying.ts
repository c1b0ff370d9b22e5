import { replays } from "../../../projections/replays/replays.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { ReplayJobs } from "./replay-jobs.ts";
import { ReplayRun, type ReplayRunParts } from "./replay-run.ts";

/** Replays looked at together; further ones wait until some are over. */
const most = 1_000;

type ReplayingParts = Omit<ReplayRunParts, "jobs"> & { readonly keys: PlatformKeys };

/** Replays to carry out in the background. */
export class Replaying {
  readonly #parts: ReplayingParts;
  readonly #jobs: ReplayJobs;

  constructor(parts: ReplayingParts) {
    this.#parts = parts;
    this.#jobs = new ReplayJobs(parts);
  }

  /** The ids of replays that are not settled, as far as the read models know. Throws ReadModelsUnavailable. */
  unsettled(): Promise<readonly string[]> {
    return this.#parts.readModels.keys({
      collection: replays.name,
      where: { settled: false },
      order: { field: replays.key, descending: false },
      limit: most,
    });
  }

  /**
   * A run of a replay, from where it has come to; null where nothing is left to do. Throws LogUnavailable, or an
   * UnreadableRecord.
   */
  async begin(id: string): Promise<ReplayRun | null> {
    const loaded = await this.#jobs.load(id);
    if (!loaded || loaded.job.settled) return null;
    const { events } = await this.#parts.keys.get();
    return new ReplayRun({ ...this.#parts, jobs: this.#jobs }, loaded, events);
  }

  /** Whether a run knows the newest fact of its replay: another process, or a command, may have added one. */
  async isCurrent(id: string, run: ReplayRun): Promise<boolean> {
    return (await this.#jobs.revisionOf(id)) === run.revision;
  }
}
