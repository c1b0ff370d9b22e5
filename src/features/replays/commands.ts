import { events } from "../../../projections/events/events.ts";
import { replays } from "../../../projections/replays/replays.ts";
import type { Inputs } from "../../../schemas/api.ts";
import { ownOf, requireOwn } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import { Turns } from "../../kernel/tools/turns.ts";
import { destinations } from "../destinations/facts.ts";
import { bulkFilter, selectedBy } from "../events/selection.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { isMeant } from "./candidates.ts";
import { decide, type ReplayJobFilter } from "./facts.ts";
import { outcomeOf, replayView, type ReplayView, ReplayJobs } from "./queries.ts";

const mostRunning = 100;

/** Ordering and cancelling replays, which run in the background. */
export class ReplayCommands {
  readonly #parts;
  readonly #jobs: ReplayJobs;
  /** Two orders at once would both take the last place. */
  readonly #turns: Turns;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "readModels" | "state" | "clock" | "ids">
      & { readonly shown: ShownEvents },
  ) {
    this.#parts = parts;
    this.#turns = new Turns(parts);
    this.#jobs = new ReplayJobs(parts);
  }

  /** Orders a replay of the events that match now, or counts them. Throws a Refusal. */
  async order(
    caller: Caller, input: Inputs["orderReplay"], origin: Origin,
  ): Promise<{ readonly ordered: ReplayView } | { readonly counted: { readonly matched: number } }> {
    const { tenantId } = caller;
    const filter = orderedFilter(input);
    const toDestinationId = input.toDestinationUrlId?.toLowerCase() ?? null;
    if (toDestinationId !== null) {
      await ownOf(this.#parts.aggregates, destinations, toDestinationId, caller, "destination");
    }
    requireRole(caller, "Developer", "replay events");
    const { count: matched, upTo } = await this.#count(tenantId, filter);
    if (input.dryRun) return { counted: { matched } };
    const { perSecond } = input;
    const order = { ...filter, toDestinationId, perSecond, upTo, matched };
    const replayId = this.#parts.ids.uuid();
    const ordered = await this.#turns.run(`replay-orders/${tenantId}`, async () => {
      await this.#requireRoom(tenantId);
      const at = timestampNow(this.#parts.clock);
      return this.#jobs.change(replayId, origin, (job) =>
        decide(job, { type: "Order", replayId, tenantId, order, at }));
    });
    const outcome = { delivered: 0, waiting: 0, exhausted: 0, cancelled: 0 };
    return { ordered: replayView(ordered, outcome) };
  }

  /** Puts no more events to work. Throws a Refusal (not-found, forbidden, invalid). */
  async cancel(caller: Caller, id: string, origin: Origin): Promise<ReplayView> {
    const at = timestampNow(this.#parts.clock);
    const cancelled = await this.#jobs.change(id, origin, (job) => {
      if (!job) refuse("not-found", "replay not found");
      requireOwn(job, caller, "replay");
      requireRole(caller, "Developer", "cancel replays");
      return decide(job, { type: "Cancel", at });
    });
    return replayView(cancelled, await outcomeOf(this.#parts, cancelled.job));
  }

  async #count(
    tenantId: string, filter: ReplayJobFilter,
  ): Promise<{ readonly count: number; readonly upTo: Position }> {
    const { readModels, shown } = this.#parts;
    const { ids } = filter;
    if (ids === null) return shown.countUpTo(tenantId, [selectedBy(tenantId, filter)]);
    return shown.ask(tenantId, async () => {
      const upTo = await readModels.checkpoint();
      const found = await Promise.all(ids.map((id) => documentOf(readModels, events, id)));
      const order = { ...filter, upTo };
      return { count: found.filter((event) => event && isMeant({ tenantId, order }, event)).length, upTo };
    });
  }

  async #requireRoom(tenantId: string): Promise<void> {
    const where = { settled: false, tenantId };
    const { readModels, shown } = this.#parts;
    const running = await shown.ask(tenantId, () => readModels.count({ collection: replays.name, where }));
    if (running >= mostRunning) refuse("unavailable", `${running} replays are running; try again when one is over`);
  }
}

function orderedFilter({ ids, status = "CriticalFailure", ...input }: Inputs["orderReplay"]): ReplayJobFilter {
  const statuses = [status].flat();
  if (statuses.includes("Cancelled") && input.toDestinationUrlId === undefined) {
    refuse("invalid", "status: must not be Cancelled without toDestinationUrlId: a cancelled event is not sent again");
  }
  return {
    ...bulkFilter(input, statuses), ids: ids ? [...new Set(ids.map((id) => id.toLowerCase()))].sort() : null,
  };
}
