import { destinations } from "../../projections/destinations/destinations.ts";
import { backlogCounter } from "../../projections/due/due.ts";
import { DueIndex } from "../delivery/requests/due-index.ts";
import type { Readings } from "../engines/prometheus/prometheus-metrics.ts";
import { keysUnderOldMasterKeys } from "../features/key-rotation/key-rotation.ts";
import { millis } from "../kernel/domain/time.ts";
import type { Clock } from "../kernel/ports/clock.ts";
import type { EventLog, LogEntry } from "../kernel/ports/event-store.ts";
import type { ReadModels } from "../kernel/ports/read-models.ts";
import type { Sealing } from "../kernel/ports/sealing.ts";
import { Leadership } from "../kernel/workers/leadership.ts";
import type { Role } from "../kernel/workers/loop.ts";
import type { EngineWatch } from "./engine-watch.ts";
import type { Engines } from "./engines/engines.ts";

interface Sources {
  readonly log: EventLog;
  readonly readModels: ReadModels;
  readonly clock: Clock;
  readonly sealing: Pick<Sealing, "masterKeyIds">;
  readonly engines: Pick<Engines, "watched" | "queueLag">;
  readonly watch: Pick<EngineWatch, "answers">;
  readonly roles: readonly Role[];
}

/** The values of gauges, read at each request of `/metrics`. */
export function readingsOf(sources: Sources): Readings {
  const { log, readModels, clock, sealing, engines, watch, roles } = sources;
  const dueIndex = new DueIndex(readModels);
  const leaderships = roles.filter((role) => role instanceof Leadership);
  const secondsSince = (at: string | null | undefined) =>
    at == null ? 0 : Math.max(0, clock.now() - millis(at)) / 1000;
  return {
    backlog: () => readModels.sum(backlogCounter),
    oldestDueSeconds: async () => secondsSince(await dueIndex.longestDue(clock.now())),
    projectionLagSeconds: async () => {
      const { entries } = await log.readLog(await readModels.checkpoint(), 1);
      return secondsSince(decidedAt(entries[0]));
    },
    keysUnderOldMasterKeys: () => keysUnderOldMasterKeys(readModels, sealing),
    circuits: async () => {
      const count = (circuit: string) =>
        readModels.count({ collection: destinations.name, where: { active: true, circuit } });
      return { Open: await count("Open"), HalfOpen: await count("HalfOpen") };
    },
    engines: () => Object.fromEntries(engines.watched.map((engine) => [engine.name, Number(watch.answers(engine))])),
    leading: () => Object.fromEntries(leaderships.map(({ name, leading }) => [name, Number(leading)])),
    queueLag: engines.queueLag,
  };
}

function decidedAt(entry: LogEntry | undefined): string | undefined {
  return entry?.unreadable === undefined ? entry?.metadata.at : undefined;
}
