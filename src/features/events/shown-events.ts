import { isDeepStrictEqual } from "node:util";
import {
  events, eventsOrdered, eventsSelected, isPlain, type EventDocument, type EventFilter,
} from "../../../projections/events/events.ts";
import { eventsReplayed } from "../../../projections/events/replayed-events.ts";
import { purges, type PurgeDocument } from "../../../projections/purges/purges.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { LongReads } from "../../kernel/log/long-reads.ts";
import { sleep } from "../../kernel/ports/clock.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import { lookAgainMs, patienceMs } from "../../kernel/read-models/freshness.ts";
import type { Slice } from "../../kernel/read-models/paging.ts";
import { everyDocument } from "../../kernel/read-models/scans.ts";
import { nearest, totalOf, type Stepping } from "./event-totals.ts";
import { matchingIds } from "./matching-ids.ts";

/** Skipping this many events in an index costs less than looking into counters. */
const near = 1_000;

interface Walked {
  readonly descending?: boolean;
  readonly after?: string | undefined;
}

/** Events as the read models show them, as new as the query. No query sees a purge half done. */
export class ShownEvents {
  readonly #parts;
  readonly #walks = new LongReads();

  constructor(parts: Pick<KernelParts, "readModels" | "freshness" | "clock">) {
    this.#parts = parts;
  }

  /** Asks as {@link Freshness.ask} does, again while a purge is half done. Throws a Refusal (unavailable). */
  ask<Result>(tenantId: string, question: (head: Position) => Promise<Result>): Promise<Result> {
    return this.#parts.freshness.ask((head) => this.#betweenPurges(tenantId, () => question(head)));
  }

  /** Whether a replay in the background sent an event. Throws as {@link ask} does. */
  isSentBy(replayId: string, { id, tenantId }: Pick<EventDocument, "id" | "tenantId">): Promise<boolean> {
    const sent = eventsReplayed(tenantId, replayId, { from: id, to: id }, false);
    return this.ask(tenantId, async () => (await this.#parts.readModels.keys({ ...sent, limit: 1 })).length > 0);
  }

  /** How many of a tenant's events match, and up to which position. Throws as {@link ask} does. */
  async countUpTo(
    tenantId: string, filters: readonly EventFilter[],
  ): Promise<{ readonly count: number; readonly upTo: Position }> {
    const { readModels, clock } = this.#parts;
    const end = clock.monotonic() + patienceMs;
    return this.ask(tenantId, async (head) => {
      for (;;) {
        const upTo = await readModels.checkpoint();
        const counts = await Promise.all(filters.map((filter) => this.count(filter)));
        const isExact = upTo >= head && (await readModels.standsAt(upTo));
        if (isExact || clock.monotonic() >= end) return { count: counts.reduce((sum, one) => sum + one, 0), upTo };
        await sleep(clock, lookAgainMs);
      }
    });
  }

  count(filter: EventFilter): Promise<number> {
    return totalOf(this.#parts.readModels, filter, this.#stepping(filter.tenantId));
  }

  /** The ids of matching events behind `after`, by acceptance, in pages of up to 1,024. */
  async *ids(filter: EventFilter, { descending = false, after }: Walked = {}): AsyncGenerator<readonly string[], void> {
    const pages = matchingIds(this.#parts.readModels, { filter, descending, after });
    const stepping = this.#stepping(filter.tenantId);
    for (;;) {
      const { value: page } = await stepping(() => pages.next());
      if (!page) return;
      if (page.length > 0) yield page;
    }
  }

  /** The events that match a filter, by acceptance, in pages. */
  async *pages(filter: EventFilter, size: number): AsyncGenerator<readonly EventDocument[], void> {
    const order = eventsOrdered(false);
    for (let after: string | undefined, isOver = false; !isOver;) {
      const place = after === undefined ? {} : { after: { value: after, key: after } };
      const page = await this.page(filter, { order, limit: size, ...place });
      isOver = page.length < size;
      after = page.at(-1)?.id;
      if (page.length > 0) yield page;
    }
  }

  /** One page of the events that match a filter, in the order of their acceptance. Call it within {@link ask}. */
  async page(
    filter: EventFilter, { order: { descending }, offset = 0, after, limit }: Slice,
  ): Promise<readonly EventDocument[]> {
    const { readModels } = this.#parts;
    const order = eventsOrdered(descending);
    if (!isPlain(filter)) {
      const ids = await this.#idsOfPage(filter, { descending, offset, after: after?.key as string | undefined, limit });
      if (ids.length === 0) return [];
      const anyOf = { field: events.key, values: ids };
      const selection = { collection: events.name, where: { tenantId: filter.tenantId }, anyOf };
      return (await readModels.find({ ...selection, order, limit })) as readonly EventDocument[];
    }
    if (after) {
      const found = await readModels.find({ ...eventsSelected(filter), order, after, limit });
      return found as readonly EventDocument[];
    }
    const place = offset < near ? { filter, offset } : await nearest(readModels, { filter, offset }, descending);
    if (!place) return [];
    const found = await readModels.find({ ...eventsSelected(place.filter), order, offset: place.offset, limit });
    return found as readonly EventDocument[];
  }

  async #idsOfPage(
    filter: EventFilter, { offset, limit, ...direction }: Walked & { readonly offset: number; readonly limit: number },
  ): Promise<readonly string[]> {
    const found: string[] = [];
    let skipped = 0;
    for await (const page of this.ids(filter, direction)) {
      const begin = Math.min(page.length, offset - skipped);
      skipped += begin;
      found.push(...page.slice(begin, begin + limit - found.length));
      if (found.length === limit) break;
    }
    return found;
  }

  #stepping(tenantId: string): Stepping {
    return (step) => this.#walks.run(tenantId, (turn) => turn(step));
  }

  async #betweenPurges<Result>(tenantId: string, question: () => Promise<Result>): Promise<Result> {
    const { clock } = this.#parts;
    const end = clock.monotonic() + patienceMs;
    // Only now, when the read models are new enough: while rebuilt, they go through old purges once more.
    let before = await this.#purgesOf(tenantId);
    for (;;) {
      const answer = await question();
      const after = await this.#purgesOf(tenantId);
      // A purge that began meanwhile may be through already: only if nothing changed was none seen half done.
      if (!after.some(({ hiding }) => hiding) && isDeepStrictEqual(after, before)) return answer;
      before = after;
      if (clock.monotonic() >= end) refuse("unavailable", "a purge is not through yet; try again");
      await sleep(clock, lookAgainMs);
    }
  }

  async #purgesOf(tenantId: string): Promise<readonly Pick<PurgeDocument, "id" | "hiding">[]> {
    const found = await everyDocument(this.#parts.readModels, purges, { where: { tenantId } });
    return found.map(({ id, hiding }) => ({ id, hiding }));
  }
}
