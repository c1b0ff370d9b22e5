import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { destinations, type DestinationDocument } from "../../../projections/destinations/destinations.ts";
import { events, eventsSelected } from "../../../projections/events/events.ts";
import createDestination from "../../../schemas/requests/create-destination.json" with { type: "json" };
import { Refusal } from "../../kernel/domain/refusal.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { serviceOrigin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { logStart } from "../../kernel/ports/event-store.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { pagesOf } from "../../kernel/read-models/scans.ts";
import { expiredBefore } from "../destinations/facts.ts";
import { decide } from "./decide.ts";
import { changeShown, countFinished, type ShownSources } from "./webhooks.ts";

const pageSize = 100;
/** The most values that `expireAfterDays` can have. */
const { maximum: mostDays } = createDestination.properties.expireAfterDays;
const cancelledAtOnce = 20;
/** Old events that were replayed since: each is read once, not in every run. */
const remembered = 100_000;

/** The read models told of the events: they are asked as they are. */
const asKnown: ShownSources["freshness"] = { ask: (question) => question(logStart) };

/** Cancels events that waited as long as their destinations allow, whatever the state of these. */
export class Expirer {
  readonly #parts;
  readonly #limit = pLimit(cancelledAtOnce);
  readonly #waitsSince = new LRUCache<string, Timestamp>({ max: remembered });

  constructor(
    parts: Instruments & Pick<KernelParts, "store" | "aggregates" | "readModels" | "ids" | "metrics">,
  ) {
    this.#parts = parts;
  }

  /** Looks through the waiting events of every destination that lets them expire, until `isOver`. */
  async run(isOver: () => boolean): Promise<void> {
    const { readModels } = this.#parts;
    const { name: collection } = destinations;
    const found = await readModels.distinct({ collection }, "expireAfterDays", { after: 0, limit: mostDays });
    for (const expireAfterDays of found) {
      for await (const page of pagesOf(readModels, destinations, { where: { expireAfterDays }, size: pageSize })) {
        for (const destination of page) {
          if (isOver()) return;
          await this.#expire(destination, isOver);
        }
      }
    }
  }

  async #expire(destination: DestinationDocument, isOver: () => boolean): Promise<void> {
    const { readModels, clock } = this.#parts;
    const before = expiredBefore(destination, clock.now());
    if (before === null) return;
    const { tenantId, id: destinationUrlId } = destination;
    for (const status of ["Pending", "WaitingRetry"] as const) {
      const { collection: _, ...selected } = eventsSelected({
        tenantId, destinationUrlId, statuses: [status], to: before,
      });
      for await (const page of pagesOf(readModels, events, { ...selected, size: pageSize })) {
        if (isOver()) return;
        const old = page.filter(({ id }) => (this.#waitsSince.get(id) ?? before) <= before);
        await Promise.all(old.map(({ id }) => this.#limit(() => this.#cancel(tenantId, id, before))));
      }
    }
  }

  async #cancel(tenantId: string, eventId: string, before: Timestamp): Promise<void> {
    const { clock, ids, metrics } = this.#parts;
    const command = { type: "Expire", before, at: timestampNow(clock) } as const;
    try {
      const changed = await changeShown(
        { ...this.#parts, freshness: asKnown }, tenantId, eventId, serviceOrigin("expiry", ids),
        (event) => decide(event, command));
      if (!changed) return;
      countFinished(metrics, changed.facts);
      if (changed.facts.length === 0) this.#waitsSince.set(eventId, changed.event.waitsSince);
    } catch (error) {
      // An event that cannot be read must not hold up the others.
      if (!(error instanceof Refusal)) throw error;
      metrics.anomaly("event not readable");
    }
  }
}
