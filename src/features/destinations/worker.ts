import {
  destinations as collection, type DestinationDocument,
} from "../../../projections/destinations/destinations.ts";
import createDestination from "../../../schemas/requests/create-destination.json" with { type: "json" };
import { Refusal } from "../../kernel/domain/refusal.ts";
import { dayMs, timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { serviceOrigin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { circuits } from "../circuits/facts.ts";
import { decide } from "./decide.ts";
import { destinations } from "./facts.ts";

const { minimum: leastDays, maximum: mostDays } = createDestination.properties.disableAfterDays;
const atOnce = 100;

/** Deactivates destinations whose attempts only failed for as long as they allow. */
export class Disabler {
  readonly #parts;

  constructor(parts: Instruments & Pick<KernelParts, "aggregates" | "readModels" | "ids">) {
    this.#parts = parts;
  }

  /** Looks at the destinations that fail for too long, some of each number of days, until `isOver`. */
  async run(isOver: () => boolean): Promise<void> {
    const { readModels, clock } = this.#parts;
    for (let days = leastDays; days <= mostDays; days += 1) {
      const to = timestamp(clock.now() - days * dayMs);
      const found = await readModels.find({
        collection: collection.name, where: { active: true, disableAfterDays: days },
        range: { field: "failingSince", from: timestamp(0), to },
        order: { field: "failingSince", descending: false }, limit: atOnce,
      });
      for (const document of found as readonly DestinationDocument[]) {
        if (isOver()) return;
        await this.#disable(document);
      }
    }
  }

  async #disable({ id, tenantId, failingSince: since }: DestinationDocument): Promise<void> {
    const { aggregates, clock, ids, logger, metrics } = this.#parts;
    try {
      const { state: circuit } = await aggregates.current(circuits, id);
      if (since === null || !circuit || circuit.failures === 0) return;
      const command = { type: "DisableFailing", since, at: timestampNow(clock) } as const;
      const { events } = await aggregates.change(destinations, id, serviceOrigin("sweeper", ids), (state) =>
        (state && !state.deleted ? decide(state, command) : []));
      if (events.length > 0) logger.warn({ tenantId, destinationId: id, since }, "failing destination deactivated");
    } catch (error) {
      // A destination that cannot be read must not hold up the others.
      if (!(error instanceof Refusal)) throw error;
      metrics.anomaly("sweeper");
    }
  }
}
