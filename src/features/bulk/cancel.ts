import { isSelected, type EventFilter } from "../../../projections/events/events.ts";
import type { components } from "../../../schemas/api.ts";
import type { Inputs } from "../../../schemas/inputs.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { type Clock, timestampNow } from "../../kernel/ports/clock.ts";
import type { EventStore } from "../../kernel/ports/event-store.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { Metrics } from "../../kernel/ports/telemetry.ts";
import { decide } from "../events/decide.ts";
import type { Webhook } from "../events/facts.ts";
import { actOnEach, bulkFilter, record, selectedBy } from "../events/selection.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { changeShown, loadShown, eventView, countFinished } from "../events/webhooks.ts";
import { cancellableStatuses, type CancellationsEvent } from "./facts.ts";

/** The result of a bulk cancellation; of a dry run, only how many matched. */
export type BulkCancelOutcome = Readonly<components["schemas"]["BulkCancellation"]>;

interface BulkCancelParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly shown: ShownEvents;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Pick<Metrics, "finished">;
}

/** Cancels many waiting events at once. */
export class BulkCancel {
  readonly #parts: BulkCancelParts;

  constructor(parts: BulkCancelParts) {
    this.#parts = parts;
  }

  /**
   * Cancels all matching events before it resolves; records the order and its result. Events whose status changes
   * meanwhile are not counted as cancelled, nor are those whose record cannot be read now. Test events are passed over.
   * Throws a Refusal (invalid, forbidden, unavailable).
   */
  async cancel(caller: Caller, input: Inputs["cancelEvents"], origin: Origin): Promise<BulkCancelOutcome> {
    const { tenantId } = caller;
    const order = bulkFilter(input, [input.status ?? cancellableStatuses].flat());
    const filter = selectedBy(tenantId, order);
    requireRole(caller, "Developer", "cancel events");
    const { ids, shown, clock } = this.#parts;
    const named = input.ids ? [...new Set(input.ids.map((id) => id.toLowerCase()))] : null;
    const matched = named
      ? await actOnEach(named, async (id) => this.#isMeant(filter, await this.#load(tenantId, id)))
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

  async #load(tenantId: string, id: string): Promise<Webhook | undefined> {
    return (await loadShown(this.#parts, tenantId, id)).state;
  }

  #isMeant(filter: EventFilter, event: Webhook | undefined): boolean {
    return event !== undefined && isSelected(filter, { ...eventView(event), correlationId: null });
  }

  /** Whether it was this request that cancelled the event. Throws a Refusal where it cannot be read. */
  async #cancel(filter: EventFilter, id: string, origin: Origin): Promise<boolean> {
    const { clock, metrics } = this.#parts;
    const command = { type: "Cancel", reason: "requested", at: timestampNow(clock) } as const;
    const changed = await changeShown(this.#parts, filter.tenantId, id, origin, (event) =>
      (this.#isMeant(filter, event) ? decide(event, command) : []));
    countFinished(metrics, changed?.facts ?? []);
    return changed !== null && changed.facts.length > 0;
  }
}
