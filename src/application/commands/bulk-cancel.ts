import {
  events, eventsOrdered, eventsSelected, type EventDocument, type EventFilter,
} from "../../../projections/events/events.ts";
import type { components } from "../../../schemas/api.ts";
import {
  cancellableStatuses, type CancellableStatus, type CancellationsEvent,
} from "../../domain/cancellations/cancellations.ts";
import { decide } from "../../domain/event/decide.ts";
import { requireRole } from "../../domain/roles.ts";
import { streams } from "../../domain/streams.ts";
import type { Clock } from "../../ports/clock/clock.ts";
import { timestampNow } from "../../ports/clock/timestamp-now.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { Ids } from "../../ports/ids.ts";
import type { ReadModels } from "../../ports/read-models.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import { actOnEach, record } from "../events/bulk.ts";
import { countFinished } from "../events/finishing.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { changeShown } from "../events/webhooks.ts";
import { parseOptionalDateTime } from "../input-rules.ts";
import type { Origin } from "../origin.ts";

/** Which of the tenant's waiting events to cancel; times of acceptance, both inclusive. */
export interface BulkCancelInput {
  readonly destinationUrlId?: string;
  readonly ids?: readonly string[];
  readonly status?: CancellableStatus | readonly CancellableStatus[];
  readonly from?: string;
  readonly to?: string;
  /** Only count them. */
  readonly dryRun?: boolean;
}

/** The result of a bulk cancellation; of a dry run, only how many matched. */
export type BulkCancelOutcome = Readonly<components["schemas"]["BulkCancellation"]>;

interface BulkCancelParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly readModels: ReadModels;
  readonly shown: ShownEvents;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Pick<Metrics, "finished">;
}

/** The events meant: those of a filter, and of these only the named ones, if any are named. */
interface Meant {
  readonly filter: EventFilter;
  readonly eventIds: readonly string[] | null;
}

/** Documents read at once. */
const readTogether = 50;

/** Cancels many waiting events at once. */
export class BulkCancel {
  readonly #parts: BulkCancelParts;

  constructor(parts: BulkCancelParts) {
    this.#parts = parts;
  }

  /**
   * Cancels all matching events before it resolves; records the order and its result. Events whose status changes
   * meanwhile are not counted as cancelled, nor are those whose record cannot be read now. Throws a Refusal (invalid,
   * forbidden, unavailable).
   */
  async cancel(caller: Caller, input: BulkCancelInput, origin: Origin): Promise<BulkCancelOutcome> {
    const { tenantId } = caller;
    const filter = {
      tenantId,
      destinationUrlId: input.destinationUrlId?.toLowerCase(),
      from: parseOptionalDateTime("from", input.from),
      to: parseOptionalDateTime("to", input.to),
    };
    requireRole(caller, "Developer", "cancel events");
    const { ids, shown, clock } = this.#parts;
    const statuses = [...new Set([input.status ?? cancellableStatuses].flat())];
    const eventIds = input.ids ? [...new Set(input.ids.map((id) => id.toLowerCase()))] : null;
    const meant: Meant = { filter: { ...filter, statuses }, eventIds };
    const matched = await shown.ask(tenantId, () => this.#count(meant));
    if (input.dryRun) return { matched };
    if (matched === 0) return { matched, cancelled: 0 };
    const cancellation = { cancellationId: ids.uuid(), tenantId };
    const { destinationUrlId: destinationId = null, from = null, to = null } = filter;
    const order = { destinationId, statuses, from, to, ids: eventIds?.length ?? null };
    const ordered = { ...cancellation, ...order, matched, at: timestampNow(clock) };
    await this.#record({ type: "CancellationOrdered", data: ordered }, origin);
    let cancelled = 0;
    for await (const page of this.#pages(meant)) {
      cancelled += await actOnEach(page, (id) => this.#cancel(tenantId, id, statuses, origin));
    }
    const data = { ...cancellation, cancelled, at: timestampNow(clock) };
    await this.#record({ type: "CancellationCompleted", data }, origin);
    return { matched, cancelled };
  }

  #record(fact: CancellationsEvent, origin: Origin): Promise<void> {
    return record(this.#parts, streams.cancellations(fact.data.tenantId), fact, origin);
  }

  async #count({ filter, eventIds }: Meant): Promise<number> {
    if (!eventIds) return this.#parts.shown.count(filter);
    let count = 0;
    for await (const page of this.#named(filter, eventIds)) count += page.length;
    return count;
  }

  #pages({ filter, eventIds }: Meant): AsyncGenerator<readonly string[], void> {
    return eventIds ? this.#named(filter, eventIds) : this.#parts.shown.ids(filter);
  }

  async *#named(filter: EventFilter, eventIds: readonly string[]): AsyncGenerator<readonly string[], void> {
    const order = eventsOrdered(false);
    for (let at = 0; at < eventIds.length; at += readTogether) {
      const anyOf = { field: events.key, values: eventIds.slice(at, at + readTogether) };
      const { anyOf: _, ...selection } = eventsSelected(filter);
      const found = await this.#parts.readModels.find({ ...selection, anyOf, order, limit: readTogether });
      const named = found as readonly EventDocument[];
      yield named.filter(({ status }) => filter.statuses?.includes(status)).map(({ id }) => id);
    }
  }

  /** Whether it was this request that cancelled the event. Throws a Refusal where it cannot be read. */
  async #cancel(
    tenantId: string, id: string, statuses: readonly string[], origin: Origin,
  ): Promise<boolean> {
    const { clock, metrics } = this.#parts;
    const changed = await changeShown(this.#parts, tenantId, id, origin, (event) => {
      const isMeant = event.tenantId === tenantId && statuses.includes(event.status);
      return isMeant ? decide(event, { type: "Cancel", reason: "requested", at: timestampNow(clock) }) : [];
    });
    countFinished(metrics, changed?.facts ?? []);
    return changed !== null && changed.facts.length > 0;
  }
}
