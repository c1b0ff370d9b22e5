import { tenantCounter } from "../../../projections/projection.ts";
import { replays, type ReplayDocument } from "../../../projections/replays/replays.ts";
import { refuse } from "../../domain/refusal.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { Ids } from "../../ports/ids.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import { requireOwn } from "../access.ts";
import type { Caller } from "../caller.ts";
import type { Freshness } from "../freshness.ts";
import { listed, type Page, type PageRequest } from "../paging.ts";
import { ReplayJobs } from "../replays/replay-jobs.ts";
import { replayView, type ReplayView } from "../views.ts";

interface ReplayQueryParts {
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
  readonly ids: Ids;
}

/** Queries about replays that run, or ran, in the background. */
export class ReplayQueries {
  readonly #parts: ReplayQueryParts;
  readonly #jobs: ReplayJobs;

  constructor(parts: ReplayQueryParts) {
    this.#parts = parts;
    this.#jobs = new ReplayJobs(parts);
  }

  /** Throws a Refusal (not-found, forbidden). */
  async get(caller: Caller, id: string): Promise<ReplayView> {
    const loaded = (await this.#jobs.load(id)) ?? refuse("not-found", "replay not found");
    requireOwn(loaded.job, caller, "replay");
    return replayView(loaded);
  }

  /** The replays of the caller's tenant. Throws a Refusal (unavailable) when the read models are behind. */
  list({ tenantId }: Caller, page: PageRequest): Promise<Page<ReplayView>> {
    const asked = { where: { tenantId }, counter: tenantCounter(replays, tenantId), page };
    return listed(this.#parts, replays, asked, viewOf);
  }
}

function viewOf({ tenantId: _, settled: __, ...shown }: ReplayDocument): ReplayView {
  return shown as ReplayView;
}
