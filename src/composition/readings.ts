import type { Readings } from "../adapters/prometheus/prometheus-metrics.ts";
import { backlogCounter, circuits, waiting } from "../../projections/due/due.ts";
import { millis } from "../domain/time.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventLog, LogEntry } from "../ports/event-store.ts";
import type { ReadModels } from "../ports/read-models.ts";

interface Sources {
  readonly log: EventLog;
  readonly readModels: ReadModels;
  readonly clock: Clock;
}

/** What `/metrics` shows of what waits and of how far the read models are. */
export function readingsOf({ log, readModels, clock }: Sources): Pick<
  Readings,
  "backlog" | "oldestDueSeconds" | "projectionLagSeconds" | "circuits"
> {
  const secondsSince = (at: string | undefined) =>
    at === undefined ? 0 : Math.max(0, clock.now() - millis(at)) / 1000;
  return {
    backlog: () => readModels.sum(backlogCounter),
    oldestDueSeconds: async () => {
      const longestWaiting = async (first: boolean) => {
        const order = { field: "dueAt", descending: false };
        const [oldest] = await readModels.find({ collection: waiting.name, where: { first }, order, limit: 1 });
        return oldest?.["dueAt"] as string | undefined;
      };
      return Math.max(secondsSince(await longestWaiting(true)), secondsSince(await longestWaiting(false)));
    },
    projectionLagSeconds: async () => {
      const { entries } = await log.readLog(await readModels.checkpoint(), 1);
      return secondsSince(decidedAt(entries[0]));
    },
    circuits: async () => {
      const count = (position: string) => readModels.count({ collection: circuits.name, where: { position } });
      return { Open: await count("Open"), HalfOpen: await count("HalfOpen") };
    },
  };
}

function decidedAt(entry: LogEntry | undefined): string | undefined {
  return entry?.unreadable === undefined ? entry?.metadata.at : undefined;
}
