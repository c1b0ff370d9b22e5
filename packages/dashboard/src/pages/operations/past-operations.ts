import type { Schemas } from "@webhook-relay/client";
import type { Filter } from "./filter-text.ts";

/** An operation on many events, as its row shows it. */
export interface PastOperation {
  readonly id: string;
  readonly state: "Running" | "Finished" | "Cancelled";
  readonly filter: Filter;
  readonly matched: number;
  /** How many events it took so far; null if unknown. */
  readonly done: number | null;
  readonly skipped: number | null;
  /** What has become of the events that a replay sent. */
  readonly outcome?: Schemas["Replay"]["outcome"];
  readonly actor: Schemas["Actor"];
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** The destination of a replay, if it is not that of each event. */
  readonly toDestinationUrlId?: string | null;
}

/** A replay in the background. */
export function replayOperation(replay: Schemas["Replay"]): PastOperation {
  const { ids, status, ...rest } = replay;
  return { ...rest, filter: { ...replay, statuses: status, ids: ids?.length ?? null } };
}

/**
 * The cancels or purges of a history, the newest first. `facts` are newest first; an operation without an end is
 * running, or broke off with its process. The history of purges does not say how many events a purge has deleted so
 * far.
 */
export function operationsOf(facts: readonly Schemas["HistoryItem"][]): readonly PastOperation[] {
  const ends = new Map<string, { readonly done: number | null; readonly at: string }>();
  return facts.flatMap((fact): PastOperation[] => {
    const { actor, time: startedAt } = fact;
    const begun = (id: string, filter: Filter, matched: number): PastOperation[] => {
      const end = ends.get(id);
      const done = end === undefined ? null : end.done ?? matched;
      return [{
        id, filter, matched, actor, startedAt, done, skipped: done === null ? null : Math.max(0, matched - done),
        state: end === undefined ? "Running" : "Finished", finishedAt: end?.at ?? null,
      }];
    };
    switch (fact.type) {
      case "PurgeCompleted":
        ends.set(fact.data.purgeId, { done: null, at: fact.time });
        return [];
      case "CancellationCompleted":
        ends.set(fact.data.cancellationId, { done: fact.data.cancelled, at: fact.time });
        return [];
      case "EventsPurged": {
        const { purgeId, status, destinationId, matched } = fact.data;
        const statuses = status === null ? ["Succeeded", "CriticalFailure", "Cancelled"] : [status];
        return begun(purgeId, { ...fact.data, statuses, destinationUrlId: destinationId }, matched);
      }
      case "CancellationOrdered": {
        const { cancellationId, destinationId, matched } = fact.data;
        return begun(cancellationId, { ...fact.data, destinationUrlId: destinationId }, matched);
      }
      default:
        return [];
    }
  });
}
