import { eventsMeant } from "../../../projections/purges/purges.ts";
import type { Inputs } from "../../../schemas/api.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { parseOptionalDateTime } from "../../kernel/callers/input-rules.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { recordedOf } from "../events/selection.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { tenants } from "../tenants/facts.ts";
import { type PurgeFilter, purges, decide, noPurges } from "./facts.ts";

/** Another purge of the tenant was ordered in between: the events it took must not be counted twice. */
class CountedTooEarly extends Error {}

/** Purging finished events: hidden at once, soon deleted from the log. */
export class PurgeCommands {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates" | "clock" | "ids"> & { readonly shown: ShownEvents }) {
    this.#parts = parts;
  }

  /** Purges the tenant's events that match, or counts them. Throws a Refusal. */
  async purge(caller: Caller, input: Inputs["purgeEvents"], origin: Origin): Promise<number> {
    const filter: PurgeFilter = {
      before: parseOptionalDateTime("before", input.before) ?? null,
      status: input.status ?? null,
      destinationId: input.destinationUrlId?.toLowerCase() ?? null,
      ...(input.senderId !== undefined && { senderId: input.senderId.toLowerCase() }),
      ...(input.eventType !== undefined && { eventType: input.eventType }),
      ...recordedOf(input),
    };
    requireRole(caller, "Admin", "purge events");
    if (input.dryRun) return (await this.#count(caller.tenantId, filter)).count;
    return this.#order(caller.tenantId, filter, origin, 0);
  }

  /** Purges the tenant's finished events from before `before`, if any. Throws a Refusal (not-found, unavailable). */
  async purgeOlder(tenantId: string, before: string, origin: Origin): Promise<void> {
    await this.#order(tenantId, { before, status: null, destinationId: null }, origin, 1);
  }

  /** Purges all finished events of a tenant. Throws a Refusal (not-found, unavailable). */
  async purgeAll(tenantId: string, origin: Origin): Promise<void> {
    await this.#order(tenantId, { before: null, status: null, destinationId: null }, origin, 0);
  }

  #count(tenantId: string, filter: PurgeFilter) {
    return this.#parts.shown.countUpTo(tenantId, eventsMeant({ tenantId, ...filter }));
  }

  /** Does nothing where fewer than `least` events match. Resolves with the number of events that match. */
  async #order(tenantId: string, filter: PurgeFilter, origin: Origin, least: number): Promise<number> {
    const { aggregates, clock, ids } = this.#parts;
    const { state: tenant } = await aggregates.current(tenants, tenantId);
    if (!tenant) refuse("not-found", "tenant not found");
    for (;;) {
      const { count: matched, upTo } = await this.#count(tenantId, filter);
      if (matched < least) return matched;
      const at = timestampNow(clock);
      const command = { type: "PurgeEvents", tenantId, purgeId: ids.uuid(), filter, upTo, matched, at } as const;
      try {
        await aggregates.change(purges, tenantId, origin, (state = noPurges) => {
          if (state.newest > upTo) throw new CountedTooEarly();
          return decide(state, command);
        });
        return matched;
      } catch (error) {
        if (!(error instanceof CountedTooEarly)) throw error;
      }
    }
  }
}
