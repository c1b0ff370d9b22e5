import { tenants, type TenantDocument } from "../../projections/tenants/tenants.ts";
import type { PurgeCommands } from "../application/commands/purge.ts";
import { millis, timestamp } from "../domain/time.ts";
import type { Clock } from "../ports/clock.ts";
import type { ExpiringState } from "../ports/expiring-state.ts";
import type { Ids } from "../ports/ids.ts";
import type { ReadModels } from "../ports/read-models.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";

const dayMs = 86_400_000;
/** A tenant's events are looked through no more often than this. */
const everyMs = 3_600_000;
const pageSize = 100;

interface RetentionParts {
  readonly readModels: ReadModels;
  readonly purge: PurgeCommands;
  readonly state: ExpiringState;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "trouble">;
}

/** Purges what tenants asked not to keep: finished events older than their `retentionDays`. */
export class Retention {
  readonly #parts: RetentionParts;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  /** Looks after every tenant that has not been looked after within the hour. */
  async run(): Promise<void> {
    for (let offset = 0; ; offset += pageSize) {
      const found = await this.#parts.readModels.find({
        collection: tenants.name,
        range: { field: "retentionDays", from: 1 },
        order: { field: "retentionDays", descending: false },
        offset,
        limit: pageSize,
      });
      for (const tenant of found as unknown as readonly TenantDocument[]) await this.#lookAfter(tenant);
      if (found.length < pageSize) return;
    }
  }

  async #lookAfter({ id, retentionDays }: TenantDocument): Promise<void> {
    const { purge, state, clock, ids, logger, metrics } = this.#parts;
    if (retentionDays === null) return;
    const now = clock.now();
    const key = `retention/${id}`;
    const [last] = await state.get([key]);
    if (last != null && Math.abs(now - millis(last)) < everyMs) return;
    const actor = { type: "service", part: "retention" } as const;
    try {
      await purge.purgeOlder(id, timestamp(now - retentionDays * dayMs), {
        actor,
        correlationId: ids.uuid(),
        causationId: null,
      });
      await state.put(key, timestamp(now), 2 * everyMs);
    } catch (error) {
      metrics.trouble("retention");
      logger.warn({ err: error, tenantId: id }, "a tenant's old events could not be purged; it is tried again");
    }
  }
}
