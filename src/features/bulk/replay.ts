import { events, eventsSelected, type EventDocument, type EventFilter } from "../../../projections/events/events.ts";
import type { components } from "../../../schemas/api.ts";
import type { Inputs } from "../../../schemas/inputs.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { unlessRefused } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { type Clock, timestampNow } from "../../kernel/ports/clock.ts";
import type { EventStore } from "../../kernel/ports/event-store.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import type { Metrics } from "../../kernel/ports/telemetry.ts";
import { pagesOf } from "../../kernel/read-models/scans.ts";
import { destinations } from "../destinations/facts.ts";
import { decide } from "../events/decide.ts";
import { actOnEach, bulkFilter, record, selectedBy } from "../events/selection.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { changeShown } from "../events/webhooks.ts";
import type { ReplaysEvent } from "../replays/events-replayed.ts";

/** The result of a bulk replay; with `dryRun` nothing is replayed. */
export type BulkReplayOutcome = Readonly<components["schemas"]["BulkReplay"]>;

interface BulkReplayParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly readModels: ReadModels;
  readonly shown: ShownEvents;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Pick<Metrics, "replayed">;
}

/** Events fetched at a time: memory stays the same however many there are. */
const pageSize = 500;

/** Puts many given-up events back to work at once. */
export class BulkReplay {
  readonly #parts: BulkReplayParts;

  constructor(parts: BulkReplayParts) {
    this.#parts = parts;
  }

  /**
   * Replays all matching events before it resolves; records the order and its result. Events that another request
   * replays, or a purge takes, meanwhile are not counted as replayed. Passed over are events whose destination was
   * deleted, and those whose record, or whose destination's, cannot be read now. Throws a Refusal (invalid, forbidden,
   * unavailable).
   */
  async replay(caller: Caller, input: Inputs["replayEvents"], origin: Origin): Promise<BulkReplayOutcome> {
    const { tenantId } = caller;
    const ordered = bulkFilter(input, ["CriticalFailure"]);
    const filter = selectedBy(tenantId, ordered);
    requireRole(caller, "Developer", "replay events");
    const { ids, shown, clock } = this.#parts;
    const matched = await shown.ask(tenantId, () => shown.count(filter));
    if (input.dryRun || matched === 0) return { matched, replayed: 0 };
    const replay = { replayId: ids.uuid(), tenantId };
    const { destinationId, from, to } = ordered;
    const data = { ...replay, destinationId, from, to, matched, at: timestampNow(clock) };
    await this.#record({ type: "ReplayOrdered", data }, origin);
    const replayed = await this.#replayAll(filter, origin);
    await this.#record({ type: "ReplayCompleted", data: { ...replay, replayed, at: timestampNow(clock) } }, origin);
    return { matched, replayed };
  }

  #record(event: ReplaysEvent, origin: Origin): Promise<void> {
    return record(this.#parts, streams.replays(event.data.tenantId), event, origin);
  }

  /** Resolves with how many events were put back to work. */
  async #replayAll(filter: EventFilter, origin: Origin): Promise<number> {
    let replayed = 0;
    for await (const page of pagesOf(this.#parts.readModels, events, { ...eventsSelected(filter), size: pageSize })) {
      replayed += await actOnEach(await this.#possible(page), (id) => this.#replay(filter.tenantId, id, origin));
    }
    return replayed;
  }

  /** The ids of the events whose destination exists. */
  async #possible(page: readonly EventDocument[]): Promise<readonly string[]> {
    const ids = [...new Set(page.map(({ destinationUrlId }) => destinationUrlId))];
    const found = await Promise.all(ids.map((id) => this.#isThere(id)));
    const there = new Set(ids.filter((_, at) => found[at]));
    return page.filter(({ destinationUrlId }) => there.has(destinationUrlId)).map(({ id }) => id);
  }

  /** Whether the destination exists; not where its record cannot be read. */
  #isThere(destinationId: string): Promise<boolean> {
    return unlessRefused(async () => {
      const { state } = await this.#parts.aggregates.current(destinations, destinationId);
      return state !== undefined && !state.deleted;
    });
  }

  /** Whether it was this request that replayed the event. Throws a Refusal where it cannot be replayed. */
  async #replay(tenantId: string, id: string, origin: Origin): Promise<boolean> {
    const { metrics, clock } = this.#parts;
    const changed = await changeShown(this.#parts, tenantId, id, origin, (event) =>
      decide(event, { type: "Replay", at: timestampNow(clock) }));
    if (changed) metrics.replayed();
    return changed !== null;
  }
}
