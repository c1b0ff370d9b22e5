import { replays, type ReplayDocument } from "../../../projections/replays/replays.ts";
import type { components } from "../../../schemas/api.ts";
import { requireOwn } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import type { Actor } from "../../kernel/domain/domain-event.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import type { EventStore } from "../../kernel/ports/event-store.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import { type ReadModels, tenantCounter } from "../../kernel/ports/read-models.ts";
import type { Freshness } from "../../kernel/read-models/freshness.ts";
import { listed, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import type { ReplayJob } from "./facts.ts";
import { ReplayJobs } from "./replay-jobs.ts";

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

/** A replay as the API shows it. */
export type ReplayView = Readonly<components["schemas"]["Replay"]>;

/** The API's view of a replay as its facts tell it. */
export function replayView(
  { job, actor }: { readonly job: ReplayJob; readonly actor: Actor },
): ReplayView {
  const { id, order, progress: { done, skipped }, state, startedAt, finishedAt } = job;
  return {
    id, state, matched: order.matched, done, skipped,
    destinationUrlId: order.destinationId,
    senderId: order.senderId,
    eventType: order.eventType,
    tag: order.tag,
    ids: order.ids && [...order.ids],
    status: [...order.statuses],
    from: order.from,
    to: order.to,
    toDestinationUrlId: order.toDestinationId,
    perSecond: order.perSecond,
    actor: { ...actor },
    startedAt,
    finishedAt,
  };
}
