import { retention, type RetentionDocument } from "../../../projections/purges/purges.ts";
import { dayMs, millis, timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { serviceOrigin } from "../../kernel/log/origin.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { pagesOf } from "../../kernel/read-models/scans.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import type { PurgeCommands } from "./commands.ts";

/** A tenant's events are looked through no more often than this. */
const everyMs = 3_600_000;
const pageSize = 100;

const lookedAfter = (tenantId: string) => `retention/${tenantId}`;

/** Purges the finished events that are older than their tenant's `retentionDays`. */
export class Retention {
  readonly #parts;
  readonly #logThrottle: LogThrottle;

  constructor(
    parts: Instruments & Pick<KernelParts, "readModels" | "state" | "ids"> & { readonly purge: PurgeCommands },
  ) {
    this.#parts = parts;
    this.#logThrottle = new LogThrottle(parts.clock);
  }

  /** Looks after every tenant that has not been looked after within the hour, until `isOver`. */
  async run(isOver: () => boolean): Promise<void> {
    const { readModels, state, clock } = this.#parts;
    for await (const tenants of pagesOf(readModels, retention, { size: pageSize })) {
      const times = await state.get(tenants.map(({ tenantId }) => lookedAfter(tenantId)));
      const now = clock.now();
      for (const [at, tenant] of tenants.entries()) {
        if (isOver()) return;
        const last = times[at];
        if (last == null || Math.abs(now - millis(last)) >= everyMs) await this.#lookAfter(tenant);
      }
    }
  }

  async #lookAfter({ tenantId, retentionDays }: RetentionDocument): Promise<void> {
    const { purge, state, clock, ids, logger, metrics } = this.#parts;
    const now = clock.now();
    try {
      const before = timestamp(now - retentionDays * dayMs);
      await purge.purgeOlder(tenantId, before, serviceOrigin("retention", ids));
      await state.put(lookedAfter(tenantId), timestamp(now), 2 * everyMs);
    } catch (error) {
      metrics.anomaly("retention");
      this.#logThrottle.tell(
        String(error),
        () => logger.warn({ err: error, tenantId }, "a tenant's old events could not be purged; it is tried again"),
        (reason, times) => logger.warn({ reason, times }, "old events still could not be purged"),
      );
    }
  }
}
