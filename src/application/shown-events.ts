import { purges, type PurgeDocument } from "../../projections/purges/purges.ts";
import type { EventFilter } from "../../projections/events/events.ts";
import { planTotal } from "../../projections/events/totals.ts";
import { Refusal } from "../domain/refusal.ts";
import type { Clock } from "../ports/clock.ts";
import type { ReadModels } from "../ports/read-models.ts";
import type { Freshness } from "./freshness.ts";
import { everyDocument } from "./pages.ts";

const patienceMs = 2_000;
const lookAgainMs = 20;
const hiding = "is hiding";

/**
 * Events as the read models show them, at least as new as the moment of the question. What a purge took is
 * cleared away bit by bit: nobody is shown a part of that.
 */
export class ShownEvents {
  readonly #parts: { readModels: ReadModels; freshness: Freshness; clock: Clock };

  constructor(parts: { readModels: ReadModels; freshness: Freshness; clock: Clock }) {
    this.#parts = parts;
  }

  /**
   * Asks about a tenant's events, again until no purge of that tenant's was in the middle of things before or after; so
   * `question` must be free of side effects. Throws a Refusal (unavailable) after 2 s.
   */
  async ask<Answer>(tenantId: string, question: () => Promise<Answer>): Promise<Answer> {
    const { freshness, clock } = this.#parts;
    const end = clock.monotonic() + patienceMs;
    let [before] = await Promise.all([this.#purgesOf(tenantId), freshness.wait()]);
    for (;;) {
      const answer = await question();
      const after = await this.#purgesOf(tenantId);
      // One that began meanwhile may be through already: only where nothing changed was none seen half done.
      if (!after.includes(hiding) && after === before) return answer;
      before = after;
      if (clock.monotonic() >= end) throw new Refusal("unavailable", "a purge is not through yet; try again");
      await new Promise<void>((resolve) => clock.schedule(lookAgainMs, resolve));
    }
  }

  /** How many events a filter means, without a look at each. To be asked by way of {@link ask}. */
  async count(filter: EventFilter): Promise<number> {
    const { readModels } = this.#parts;
    const { sums, counts } = planTotal(filter);
    const parts = await Promise.all([
      ...sums.map(({ scope, from, to }) => readModels.sum(scope, from, to)),
      ...counts.map((selection) => readModels.count(selection)),
    ]);
    return parts.reduce((sum, part) => sum + part, 0);
  }

  /** The purges of a tenant that are under way, and which of them are in the middle of things. */
  async #purgesOf(tenantId: string): Promise<string> {
    const ofTenant = { collection: purges.name, where: { tenantId } };
    const found = await everyDocument(this.#parts.readModels, ofTenant, purges.key);
    return (found as unknown as readonly PurgeDocument[]).map((one) => `${one.id} ${one.hiding ? hiding : ""}`).join();
  }
}
