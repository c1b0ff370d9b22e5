import { replayedCounter } from "../../../projections/events/replayed-events.ts";
import { replays, type ReplayDocument } from "../../../projections/replays/replays.ts";
import type { components } from "../../../schemas/api.ts";
import { requireOwn } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import type { Actor, DomainEvent } from "../../kernel/domain/domain-event.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import { refuseUnreadable } from "../../kernel/log/unreadable.ts";
import { noStream, RevisionConflict, type LogEntry, type RecordedEvent } from "../../kernel/ports/event-store.ts";
import { tenantCounter } from "../../kernel/ports/read-models.ts";
import { listed, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import { eventStatuses, everyRecordedFilter, isFinished, type EventStatus } from "../events/facts.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { type ReplayJob, evolve, type ReplayJobEvent } from "./facts.ts";

/** A replay as it is in the log. */
export interface LoadedReplay {
  readonly job: ReplayJob;
  readonly revision: number;
  readonly actor: Actor;
  readonly orderId: string;
  /** The id of the request that ordered it. */
  readonly correlationId: string;
}

/** A replay as the API shows it. */
export type ReplayView = Readonly<components["schemas"]["Replay"]>;

/** Queries about replays that run, or ran, in the background. */
export class ReplayQueries {
  readonly #parts;
  readonly #jobs: ReplayJobs;

  constructor(
    parts: Pick<KernelParts, "store" | "readModels" | "freshness" | "ids"> & { readonly shown: ShownEvents },
  ) {
    this.#parts = parts;
    this.#jobs = new ReplayJobs(parts);
  }

  async get(caller: Caller, id: string): Promise<ReplayView> {
    const loaded = (await this.#jobs.load(id)) ?? refuse("not-found", "replay not found");
    requireOwn(loaded.job, caller, "replay");
    return replayView(loaded, await outcomeOf(this.#parts, loaded.job));
  }

  /** The replays of the caller's tenant. Throws a Refusal (unavailable) when the read models are behind. */
  async list({ tenantId }: Caller, page: PageRequest): Promise<Page<ReplayView>> {
    const asked = { where: { tenantId }, counter: tenantCounter(replays, tenantId), page };
    const found = await listed(this.#parts, replays, asked, (document) => document);
    const items = await Promise.all(found.items.map(async (document) =>
      viewOf(document, await outcomeOf(this.#parts, document))));
    return { ...found, items };
  }
}

type Outcome = ReplayView["outcome"];

const unfinishedStatuses = eventStatuses.filter((status) => !isFinished(status));

/** What has become of the events that a replay sent so far. Throws a Refusal (unavailable). */
export async function outcomeOf(
  { readModels, shown }: Pick<KernelParts, "readModels"> & { readonly shown: ShownEvents },
  { id: replayId, tenantId }: Pick<ReplayJob, "id" | "tenantId">,
): Promise<Outcome> {
  const [sent, waiting, exhausted, cancelled] = await shown.ask(tenantId, () => {
    const count = (statuses: readonly EventStatus[]) => shown.count({ tenantId, replayId, statuses });
    return Promise.all([
      readModels.sum(replayedCounter(tenantId, replayId)),
      count(unfinishedStatuses), count(["CriticalFailure"]), count(["Cancelled"]),
    ]);
  });
  return { delivered: Math.max(0, sent - waiting - exhausted - cancelled), waiting, exhausted, cancelled };
}

function viewOf({ tenantId: _, settled: __, status, ...shown }: ReplayDocument, outcome: Outcome): ReplayView {
  return { ...shown, status: [...status], ids: shown.ids && [...shown.ids], actor: { ...shown.actor }, outcome };
}

/** The replays in the log, each in a stream of its own, of which the first and the newest facts are read. */
export class ReplayJobs {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "store" | "ids">) {
    this.#parts = parts;
  }

  /** Undefined where there is none. Throws LogUnavailable, or an UnreadableRecord. */
  async load(id: string): Promise<LoadedReplay | undefined> {
    const stream = streams.replay(id);
    const [[first], [newest]] = await Promise.all([
      this.#parts.store.readStream(stream, { limit: 1 }),
      this.#parts.store.readStream(stream, { backwards: true, limit: 1 }),
    ]);
    if (!first || !newest) return undefined;
    const job = evolve(evolve(undefined, readable(first)), readable(newest));
    const { id: orderId, metadata: { actor, correlationId } } = readable(first);
    return job && { job, revision: newest.revision, actor, orderId, correlationId };
  }

  async revisionOf(id: string): Promise<number> {
    const [newest] = await this.#parts.store.readStream(streams.replay(id), { backwards: true, limit: 1 });
    return newest?.revision ?? noStream;
  }

  /** Appends facts behind a revision; resolves with the last revision. Throws RevisionConflict or LogUnavailable. */
  async append(id: string, expected: number, facts: readonly DomainEvent[], origin: Origin): Promise<number> {
    const entries = entriesOf(facts, origin, this.#parts.ids);
    return (await this.#parts.store.append(streams.replay(id), expected, entries)).revision;
  }

  /** Decides on the replay and appends the facts, again after another writer. Throws as {@link load} and `decide`. */
  async change(
    id: string, origin: Origin, decide: (job: ReplayJob | undefined) => readonly ReplayJobEvent[],
  ): Promise<{ readonly job: ReplayJob; readonly actor: Actor }> {
    for (;;) {
      const loaded = await this.load(id);
      const facts = decide(loaded?.job);
      try {
        await this.append(id, loaded?.revision ?? noStream, facts, origin);
        const job = facts.reduce<ReplayJob | undefined>((state, fact) => evolve(state, fact), loaded?.job);
        if (!job) throw new Error(`replay ${id} is changed before it was ordered`);
        return { job, actor: loaded?.actor ?? origin.actor };
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
      }
    }
  }
}

function readable(entry: LogEntry): RecordedEvent<ReplayJobEvent> {
  if (entry.unreadable !== undefined) refuseUnreadable("the replay's record", entry);
  return entry as RecordedEvent<ReplayJobEvent>;
}

/** The API's view of a replay as its facts tell it. */
export function replayView(
  { job, actor }: { readonly job: ReplayJob; readonly actor: Actor }, outcome: Outcome,
): ReplayView {
  const { id, order, progress: { done, skipped }, state, startedAt, finishedAt } = job;
  return {
    id, state, matched: order.matched, done, skipped, outcome,
    destinationUrlId: order.destinationId,
    senderId: order.senderId,
    eventType: order.eventType,
    tag: order.tag,
    ids: order.ids && [...order.ids],
    status: [...order.statuses],
    from: order.from,
    to: order.to,
    ...everyRecordedFilter(order),
    toDestinationUrlId: order.toDestinationId,
    perSecond: order.perSecond,
    actor: { ...actor },
    startedAt,
    finishedAt,
  };
}
