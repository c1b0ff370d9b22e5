import { connectMongoDb } from "../../../src/engines/mongodb/connection.ts";
import { MongoReadModelWriter } from "../../../src/engines/mongodb/read-model-writer.ts";
import { MongoReadModels } from "../../../src/engines/mongodb/read-models.ts";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import type { Clock } from "../../../src/kernel/ports/clock.ts";
import { quiet } from "../../support/telemetry.ts";

/** A writer and a reader on a connection of their own, as one process has. */
export function openProcess(
  url: string,
  { clock = new SystemClock(), dropAfterMs = 60_000 }: { readonly clock?: Clock; readonly dropAfterMs?: number } = {},
) {
  const connection = connectMongoDb(url, { clock, logger: quiet });
  const writer = new MongoReadModelWriter(connection, { dropAfterMs });
  const reader = new MongoReadModels(connection, { freshMs: 0 });
  return {
    connection,
    writer,
    reader,
    close: () => connection.close(),
  };
}

/** A clock whose timers end `times` times sooner, so that timeouts are short. */
export function hasty(times: number): Clock {
  const clock = new SystemClock();
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    schedule: (delayMs, task) => clock.schedule(delayMs / times, task),
  };
}
