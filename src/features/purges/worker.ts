import { apiKeys } from "../../../projections/api-keys/api-keys.ts";
import { fingerprint } from "../../../projections/index.ts";
import { purges, purging, type PurgeDocument, type PurgingDocument } from "../../../projections/purges/purges.ts";
import { Refusal } from "../../kernel/domain/refusal.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { refuseUnreadable } from "../../kernel/log/unreadable.ts";
import { sleep, timestampNow } from "../../kernel/ports/clock.ts";
import { noStream, RevisionConflict, type LogEntry, type Position } from "../../kernel/ports/event-store.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { documentOf, pagesOf } from "../../kernel/read-models/scans.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import { recordUse } from "../keys/api-keys/decide.ts";
import type { Message } from "../messages/facts.ts";
import { purgeDeliveries } from "../messages/messages.ts";
import { purges as tenantPurges, decide, noPurges } from "./facts.ts";

const pageSize = 500;
/** Deletions under way at once: enough to share commits, few enough to leave the log to others. */
const together = 50;
const purgesAtOnce = 100;

/** Deletes the streams of purged events once they are hidden and no read models are being built. */
export class Purger {
  readonly #parts;
  readonly #cursors = new Map<string, string>();
  /** Purges with an event that is left to a process of a newer release. */
  readonly #unfinished = new Set<string>();
  readonly #stuck: LogThrottle;

  constructor(parts: Instruments & Pick<KernelParts, "store" | "aggregates" | "readModels" | "ids">) {
    this.#parts = parts;
    this.#stuck = new LogThrottle(parts.clock);
  }

  /** Works until nothing is left to do, or until `isOver`. */
  async run(isOver: () => boolean): Promise<void> {
    let worked = true;
    while (worked && !isOver()) worked = await this.step(isOver);
  }

  /** Does a part of the work of each purge, until `isOver`; resolves false when there was none. */
  async step(isOver: () => boolean): Promise<boolean> {
    const where = { hiding: false, completed: false };
    let worked = false;
    for await (const page of pagesOf(this.#parts.readModels, purges, { where, size: purgesAtOnce })) {
      for (const purge of page) {
        if (isOver() || !(await this.#settle())) return worked;
        if (await this.#tryToWork(purge)) worked = true;
      }
    }
    return worked;
  }

  async #tryToWork(purge: PurgeDocument): Promise<boolean> {
    try {
      if (!(await this.#isUnderWay(purge))) return false;
      await this.#work(purge);
      return true;
    } catch (error) {
      // A purge that comes upon an unreadable record or page of the log must not hold up the others.
      this.#tellOfStuck(purge, error);
      return false;
    }
  }

  #tellOfStuck({ id: purgeId, tenantId }: PurgeDocument, error: unknown): void {
    const { logger, metrics } = this.#parts;
    metrics.anomaly("cleaner");
    this.#stuck.tell(
      purgeId,
      () => logger.warn({ err: error, purgeId, tenantId }, "a purge cannot go on; it is tried again"),
      (purgeId, times) => logger.warn({ purgeId, times }, "a purge still cannot go on"),
    );
  }

  #settle(): Promise<boolean> {
    return this.#parts.readModels.settle(fingerprint);
  }

  /** The read models may not know yet that the purge is over. */
  async #isUnderWay({ id, tenantId }: PurgeDocument): Promise<boolean> {
    const { state } = await this.#parts.aggregates.current(tenantPurges, tenantId);
    return state?.underWay.some((purge) => purge.id === id) ?? false;
  }

  async #work(purge: PurgeDocument): Promise<void> {
    const origin: Origin = { actor: { type: "service", part: "purger" }, correlationId: purge.id, causationId: null };
    const after = this.#cursors.get(purge.id);
    const page = await this.#page(purge.id, after);
    if (after === undefined && page.length > 0) await this.#recordUses(purge.tenantId, origin);
    for (let at = 0; at < page.length; at += together) {
      if (!(await this.#settle())) return;
      const some = page.slice(at, at + together);
      const deleted = await this.#paced(() =>
        Promise.all(some.map((event) => this.#delete(event, purge.position, origin))));
      if (deleted.includes(false)) this.#unfinished.add(purge.id);
    }
    const last = page.at(-1);
    if (last) this.#cursors.set(purge.id, last.eventId);
    else if (this.#unfinished.has(purge.id)) refuseUnreadable("the record of a purged event", { newer: true });
    else if (await this.#isOutOfSight(purge)) await this.#complete(purge, origin);
  }

  /** Whether the purged events are hidden, also by read models that replaced others meanwhile. */
  async #isOutOfSight({ id }: PurgeDocument): Promise<boolean> {
    return (await documentOf(this.#parts.readModels, purges, id))?.hiding === false;
  }

  async #complete({ id: purgeId, tenantId }: PurgeDocument, origin: Origin): Promise<void> {
    const { aggregates, clock, logger } = this.#parts;
    const command = { type: "CompletePurge", tenantId, purgeId, at: timestampNow(clock) } as const;
    await aggregates.change(tenantPurges, tenantId, origin, (state) => decide(state ?? noPurges, command));
    this.#cursors.delete(purgeId);
    logger.info({ purgeId, tenantId }, "a purge is through: its events are deleted from the log");
  }

  async #page(purgeId: string, after: string | undefined): Promise<readonly PurgingDocument[]> {
    const found = await this.#parts.readModels.find({
      collection: purging.name,
      where: { purgeId },
      ...(after !== undefined && { range: { field: purging.key, from: after } }),
      order: { field: purging.key, descending: false },
      limit: pageSize + 1,
    });
    return (found as readonly PurgingDocument[]).filter(({ eventId }) => eventId !== after);
  }

  /** Deletes the stream of an event, unless it began again. Resolves false where only a newer release can tell. */
  async #delete({ eventId, messageId }: PurgingDocument, purgedAt: Position, origin: Origin): Promise<boolean> {
    const { store } = this.#parts;
    const stream = streams.event(eventId);
    for (;;) {
      const [newest] = await store.readStream(stream, { backwards: true, limit: 1 });
      if (newest?.unreadable !== undefined && newest.newer) return false;
      if (newest && !isOf(newest, eventId)) return true;
      if (newest && newest.position > purgedAt) {
        const [oldest] = await store.readStream(stream, { limit: 1 });
        if (!oldest || oldest.position > purgedAt) return true;
      }
      if (messageId !== null) {
        await purgeDeliveries(this.#parts, messageId, [eventId], origin);
        return true;
      }
      try {
        // Also where the stream reads as empty: a deletion may have broken off.
        await store.deleteStream(stream, newest?.revision ?? noStream);
        return true;
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
      }
    }
  }

  /** Records the uses of keys that the read models know only from events, before the events are deleted. */
  async #recordUses(tenantId: string, origin: Origin): Promise<void> {
    const pages = pagesOf(this.#parts.readModels, apiKeys, { where: { tenantId }, size: pageSize });
    for await (const page of pages) {
      for (const { id, lastUsedAt } of page) {
        if (lastUsedAt !== null) await this.#recordUse(id, lastUsedAt, origin);
      }
    }
  }

  async #recordUse(keyId: string, usedAt: string, origin: Origin): Promise<void> {
    try {
      await recordUse(this.#parts, keyId, usedAt, origin);
    } catch (error) {
      // The use of a key whose record cannot be read cannot be recorded.
      if (!(error instanceof Refusal)) throw error;
    }
  }

  /** Rests as long as the task took, so that the log has time for others. */
  async #paced<Result>(task: () => Promise<Result>): Promise<Result> {
    const { clock } = this.#parts;
    const begun = clock.monotonic();
    const result = await task();
    await sleep(clock, clock.monotonic() - begun);
    return result;
  }
}

/** Whether an entry is a fact of this event. For an unreadable entry the stream's name alone must do. */
function isOf(entry: LogEntry, eventId: string): boolean {
  if (entry.unreadable !== undefined) return true;
  const { eventId: id = (entry.data as Partial<Message>).messageId } = entry.data as { readonly eventId?: string };
  return id === eventId;
}
