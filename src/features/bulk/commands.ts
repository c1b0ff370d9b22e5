import { isSelected, type EventFilter, type EventDocument } from "../../../projections/events/events.ts";
import type { components, Inputs } from "../../../schemas/api.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { unlessRefused } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { destinations } from "../destinations/facts.ts";
import { decide } from "../events/decide.ts";
import { actOnEach, bulkFilter, record, selectedBy } from "../events/selection.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import {
  changeShown, loadShown, eventView, countFinished, slotOfResent, tracesOf, type LoadedWebhook,
  type ShownSources,
} from "../events/webhooks.ts";
import type { ReplaysEvent } from "../replays/facts.ts";
import { cancellableStatuses, type CancellationsEvent } from "./facts.ts";

const pageSize = 500;

/** The result of a bulk cancellation; of a dry run, only how many matched. */
export type BulkCancelOutcome = Readonly<components["schemas"]["BulkCancellation"]>;

/** The result of a bulk replay; with `dryRun` nothing is replayed. */
export type BulkReplayOutcome = Readonly<components["schemas"]["BulkReplay"]>;

/** Cancels many waiting events at once. */
export class BulkCancel {
  readonly #parts;

  constructor(
    parts: ShownSources & Pick<KernelParts, "clock" | "ids" | "metrics"> & { readonly shown: ShownEvents },
  ) {
    this.#parts = parts;
  }

  /** Cancels all matching events before it resolves; records the order and its result. Throws a Refusal. */
  async cancel(caller: Caller, input: Inputs["cancelEvents"], origin: Origin): Promise<BulkCancelOutcome> {
    const { tenantId } = caller;
    const order = bulkFilter(input, [input.status ?? cancellableStatuses].flat());
    const filter = selectedBy(tenantId, order);
    requireRole(caller, "Developer", "cancel events");
    const { ids, shown, clock } = this.#parts;
    const named = input.ids ? [...new Set(input.ids.map((id) => id.toLowerCase()))] : null;
    const matched = named
      ? await actOnEach(named, async (id) => this.#isMeant(filter, await loadShown(this.#parts, tenantId, id)))
      : await shown.ask(tenantId, () => shown.count(filter));
    if (input.dryRun) return { matched };
    if (matched === 0) return { matched, cancelled: 0 };
    const cancellation = { cancellationId: ids.uuid(), tenantId };
    const counts = { ids: named?.length ?? null, matched };
    const data = { ...cancellation, ...order, ...counts, at: timestampNow(clock) };
    await this.#record({ type: "CancellationOrdered", data }, origin);
    let cancelled = 0;
    for await (const page of named ? [named] : shown.ids(filter)) {
      cancelled += await actOnEach(page, (id) => this.#cancel(filter, id, origin));
    }
    const result = { ...cancellation, cancelled, at: timestampNow(clock) };
    await this.#record({ type: "CancellationCompleted", data: result }, origin);
    return { matched, cancelled };
  }

  #record(fact: CancellationsEvent, origin: Origin): Promise<void> {
    return record(this.#parts, streams.cancellations(fact.data.tenantId), fact, origin);
  }

  #isMeant(filter: EventFilter, { state, facts }: Pick<LoadedWebhook, "state" | "facts">): boolean {
    return state !== undefined && isSelected(filter, { ...eventView(state), ...tracesOf(facts) });
  }

  /** Whether it was this request that cancelled the event. Throws a Refusal where it cannot be read. */
  async #cancel(filter: EventFilter, id: string, origin: Origin): Promise<boolean> {
    const { clock, metrics } = this.#parts;
    const command = { type: "Cancel", reason: "requested", at: timestampNow(clock) } as const;
    const changed = await changeShown(this.#parts, filter.tenantId, id, origin, (state, facts) =>
      (this.#isMeant(filter, { state, facts }) ? decide(state, command) : []));
    countFinished(metrics, changed?.facts ?? []);
    return changed !== null && changed.facts.length > 0;
  }
}

/** Puts many given-up events back to work at once. */
export class BulkReplay {
  readonly #parts;

  constructor(
    parts: ShownSources & Pick<KernelParts, "clock" | "ids" | "metrics"> & { readonly shown: ShownEvents },
  ) {
    this.#parts = parts;
  }

  /** Replays all matching events before it resolves; records the order and its result. Throws a Refusal. */
  async replay(caller: Caller, input: Inputs["replayEvents"], origin: Origin): Promise<BulkReplayOutcome> {
    const { tenantId } = caller;
    const ordered = bulkFilter(input, ["CriticalFailure"]);
    const filter = selectedBy(tenantId, ordered);
    const { destinationId, senderId, eventType, tag: _tag, statuses: _statuses, ...others } = ordered;
    requireRole(caller, "Developer", "replay events");
    const { ids, shown, clock } = this.#parts;
    const matched = await shown.ask(tenantId, () => shown.count(filter));
    if (input.dryRun || matched === 0) return { matched, replayed: 0 };
    const replay = { replayId: ids.uuid(), tenantId };
    const narrowed = {
      destinationId, ...(senderId !== null && { senderId }), ...(eventType !== null && { eventType }), ...others,
    };
    const data = { ...replay, ...narrowed, matched, at: timestampNow(clock) };
    await this.#record({ type: "ReplayOrdered", data }, origin);
    const replayed = await this.#replayAll(filter, origin);
    await this.#record({ type: "ReplayCompleted", data: { ...replay, replayed, at: timestampNow(clock) } }, origin);
    return { matched, replayed };
  }

  #record(event: ReplaysEvent, origin: Origin): Promise<void> {
    return record(this.#parts, streams.replays(event.data.tenantId), event, origin);
  }

  async #replayAll(filter: EventFilter, origin: Origin): Promise<number> {
    let replayed = 0;
    for await (const page of this.#parts.shown.pages(filter, pageSize)) {
      replayed += await actOnEach(await this.#possible(page), (id) => this.#replay(filter.tenantId, id, origin));
    }
    return replayed;
  }

  async #possible(page: readonly EventDocument[]): Promise<readonly string[]> {
    const ids = [...new Set(page.map(({ destinationUrlId }) => destinationUrlId))];
    const found = await Promise.all(ids.map((id) => this.#isThere(id)));
    const there = new Set(ids.filter((_, at) => found[at]));
    return page.filter(({ destinationUrlId }) => there.has(destinationUrlId)).map(({ id }) => id);
  }

  #isThere(destinationId: string): Promise<boolean> {
    return unlessRefused(async () => {
      const { state } = await this.#parts.aggregates.current(destinations, destinationId);
      return state !== undefined && !state.deleted;
    });
  }

  /** Whether it was this request that replayed the event. Throws a Refusal where it cannot be replayed. */
  async #replay(tenantId: string, id: string, origin: Origin): Promise<boolean> {
    const { aggregates, metrics, clock } = this.#parts;
    const changed = await changeShown(this.#parts, tenantId, id, origin, async (event) => {
      const slot = await slotOfResent(aggregates, event);
      return decide(event, { type: "Replay", slot, at: timestampNow(clock) });
    });
    if (changed) metrics.replayed();
    return changed !== null;
  }
}
