import type { DomainEvent } from "../domain-event.ts";
import type { Purge, PurgeFilter } from "../event/purge.ts";
import { refuse } from "../refusal.ts";
import type { Timestamp } from "../time.ts";

/** The purges of a tenant; every fact of a `purges-<tenantId>` stream carries those under way. */
export interface Purges {
  /** Purges whose events are hidden but not yet all deleted from the log, oldest first. */
  readonly underWay: readonly Purge[];
  /** The place in the log of the newest fact; before every other where there is none. */
  readonly newest: string;
}

/** Facts about a tenant's purges; each carries the whole state from then on. */
export type PurgesEvent =
  /**
   * Hides the events that match the filter and had finished by `upTo`. `matched` is their number then; some may have
   * been replayed, or settled by a late outcome, before this fact. `upTo` is null in facts of older programs: read it
   * as this fact's own position. `earlier`: the purges then under way, oldest first.
   */
  | DomainEvent<
      "EventsPurged",
      PurgeFilter & {
        purgeId: string;
        tenantId: string;
        upTo: string | null;
        matched: number;
        earlier: readonly Purge[];
        at: Timestamp;
      }
    >
  /** The streams of all events that a purge took are deleted. `left`: the purges still under way, oldest first. */
  | DomainEvent<"PurgeCompleted", { purgeId: string; tenantId: string; left: readonly Purge[]; at: Timestamp }>;

/** Commands to a tenant's purges. */
export type PurgesCommand =
  | {
      readonly type: "PurgeEvents";
      readonly tenantId: string;
      readonly purgeId: string;
      readonly filter: PurgeFilter;
      /** The place in the log up to which `matched` was counted. */
      readonly upTo: string;
      readonly matched: number;
      readonly at: Timestamp;
    }
  | { readonly type: "CompletePurge"; readonly tenantId: string; readonly purgeId: string; readonly at: Timestamp };

/** Purges of a tenant that may be under way at once: each fact repeats them all. */
const mostUnderWay = 100;

/** The purges of a tenant that never had one. */
export const noPurges: Purges = { underWay: [], newest: "" };

/** The newest fact is the state; `position` is its place in the log. */
export function evolve(_state: Purges | undefined, event: PurgesEvent, position = ""): Purges {
  if (event.type === "PurgeCompleted") return { underWay: event.data.left, newest: position };
  const { purgeId: id, upTo, before, status, destinationId, earlier } = event.data;
  const purge = { id, position, upTo: upTo ?? position, before, status, destinationId };
  return { underWay: [...earlier, purge], newest: position };
}

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal (unavailable). */
export function decide({ underWay }: Purges, command: PurgesCommand): PurgesEvent[] {
  const { tenantId, purgeId, at } = command;
  if (command.type === "CompletePurge") {
    const left = underWay.filter(({ id }) => id !== purgeId);
    if (left.length === underWay.length) return [];
    return [{ type: "PurgeCompleted", data: { purgeId, tenantId, left, at } }];
  }
  if (underWay.length >= mostUnderWay) refuse("unavailable", "too many purges are under way; try again");
  const { filter, upTo, matched } = command;
  return [{ type: "EventsPurged", data: { purgeId, tenantId, ...filter, upTo, matched, earlier: underWay, at } }];
}
