import { timestamp } from "../../domain/time.ts";
import type { Position } from "../../ports/event-store.ts";
import type { ReadModels } from "../../ports/read-models.ts";

/** An event that waits for an attempt. */
export interface WaitingWork {
  readonly eventId: string;
  readonly destinationId: string;
  readonly dueAt: string;
}

/** An attempt under way, as far as the log knows. */
export interface AttemptLease {
  readonly eventId: string;
  readonly destinationId: string;
  readonly attempt: number;
  readonly startedAt: string;
  readonly leaseUntil: string;
  readonly worker: string;
}

const page = 500;

/**
 * What is due when, and which attempts are under way: the truth the queue only hints at. Answers lag
 * the log by moments, so whoever acts on them claims by an append at an expected revision.
 */
export class DueIndex {
  readonly #readModels: ReadModels;

  constructor(readModels: ReadModels) {
    this.#readModels = readModels;
  }

  /** Resolves true once the index covers `position`, false after `timeoutMs`. */
  covers(position: Position, timeoutMs: number): Promise<boolean> {
    return this.#readModels.caughtUp(position, timeoutMs);
  }

  /** Work of a destination due by `until`, and not before `from`, longest due first. */
  async due(destinationId: string, until: string, limit: number, from?: string): Promise<readonly WaitingWork[]> {
    const documents = await this.#readModels.find({
      collection: "waiting",
      where: { destinationId },
      range: { field: "dueAt", to: until, ...(from !== undefined && { from }) },
      order: { field: "dueAt", descending: false },
      limit,
    });
    return documents as unknown as WaitingWork[];
  }

  /** The events accepted first among a destination's due ones: whose turn it is to be the probe. */
  async oldestDue(destinationId: string, now: number, limit: number): Promise<readonly WaitingWork[]> {
    const oldest = await this.#readModels.find({
      collection: "waiting",
      where: { destinationId },
      range: { field: "dueAt", to: timestamp(now) },
      order: { field: "acceptedAt", descending: false },
      limit,
    });
    return oldest as unknown as WaitingWork[];
  }

  /** Destinations with a retry that became due within (`after`, `until`], both ms. */
  async destinationsWithRetriesDue(after: number, until: number): Promise<ReadonlySet<string>> {
    return this.#destinations({ first: false }, { field: "dueAt", from: timestamp(after + 1), to: timestamp(until) });
  }

  /** Destinations with any work due by `until` (ms). */
  async destinationsWithWorkDue(until: number): Promise<ReadonlySet<string>> {
    return this.#destinations({}, { field: "dueAt", to: timestamp(until) });
  }

  /** Destinations whose circuit may be tried by `now` (ms), or whose probe's lease is over. */
  async circuitsDue(now: number): Promise<readonly string[]> {
    const documents = await this.#readModels.find({
      collection: "circuits",
      range: { field: "wakeAt", to: timestamp(now) },
      order: { field: "wakeAt", descending: false },
      limit: page,
    });
    return documents.map((document) => document["destinationId"] as string);
  }

  /** All attempts under way, of one destination or of all, oldest start first. */
  async leases(destinationId?: string): Promise<readonly AttemptLease[]> {
    const leases: AttemptLease[] = [];
    for (;;) {
      const documents = await this.#readModels.find({
        collection: "leases",
        ...(destinationId === undefined ? {} : { where: { destinationId } }),
        order: { field: "startedAt", descending: false },
        offset: leases.length,
        limit: page,
      });
      leases.push(...(documents as unknown as AttemptLease[]));
      if (documents.length < page) return leases;
    }
  }

  async #destinations(
    where: Readonly<Record<string, boolean>>,
    range: { readonly field: string; readonly from?: string; readonly to: string },
  ): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    let after: string | undefined;
    for (;;) {
      const values = (await this.#readModels.distinct({ collection: "waiting", where, range }, "destinationId", {
        ...(after === undefined ? {} : { after }),
        limit: page,
      })) as string[];
      for (const value of values) found.add(value);
      if (values.length < page) return found;
      after = values.at(-1);
    }
  }
}
