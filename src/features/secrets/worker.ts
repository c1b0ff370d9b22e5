import { secretEnds, type SecretEndDocument } from "../../../projections/secrets/secret-ends.ts";
import { timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { serviceOrigin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import { decide as decideDestination } from "../destinations/decide.ts";
import { destinations } from "../destinations/facts.ts";
import { decide } from "../tenants/decide.ts";
import { tenants } from "../tenants/facts.ts";

const atOnce = 500;

/** Records the ends of older secrets: a clock that is set back later revives none. */
export class SecretExpiry {
  readonly #parts;
  readonly #logThrottle: LogThrottle;

  constructor(parts: Instruments & Pick<KernelParts, "readModels" | "aggregates" | "ids">) {
    this.#parts = parts;
    this.#logThrottle = new LogThrottle(parts.clock);
  }

  /** Records the ends that have come, until `isOver`. */
  async run(isOver: () => boolean): Promise<void> {
    const { readModels, clock } = this.#parts;
    const due = await readModels.find({
      collection: secretEnds.name,
      range: { field: "expiresAt", from: timestamp(0), to: timestampNow(clock) },
      order: { field: "expiresAt", descending: false },
      limit: atOnce,
    });
    for (const end of due as readonly SecretEndDocument[]) {
      if (isOver()) return;
      await this.#tryToRecord(end);
    }
  }

  /** A record that cannot be read must not hold up the others. */
  async #tryToRecord({ tenantId, destinationId }: SecretEndDocument): Promise<void> {
    const { aggregates, clock, ids, logger, metrics } = this.#parts;
    const command = { type: "RecordExpiredSecrets", at: timestampNow(clock) } as const;
    const origin = serviceOrigin("sweeper", ids);
    try {
      if (destinationId === null) {
        await aggregates.change(tenants, tenantId, origin, (state) => state ? decide(state, command) : []);
      } else {
        await aggregates.change(destinations, destinationId, origin, (state) =>
          state && !state.deleted ? decideDestination(state, command) : []);
      }
    } catch (error) {
      metrics.anomaly("sweeper");
      this.#logThrottle.tell(
        String(error),
        () => logger.warn({ err: error, tenantId }, "the end of older secrets was not recorded; it is tried again"),
        (reason, times) => logger.warn({ reason, times }, "ends of older secrets were still not recorded"),
      );
    }
  }
}
