import { relayOn } from "../../test/support/engines/environment.ts";
import { startEventStoreDb } from "../../test/support/engines/eventstoredb.ts";
import { startKafka } from "../../test/support/engines/kafka.ts";
import { startMongoDb } from "../../test/support/engines/mongodb.ts";

/** The environment of a relay. */
export type Env = Readonly<Record<string, string>>;

/** Engines outside of the relay: the tests' own, so wire-compatible servers where the real ones cannot run. */
export interface OutsideEngines {
  /** Which, and where they came from. */
  readonly description: string;
  /** The environment of a relay that uses these engines, with a log, a topic and a database of its own. */
  fresh(): Promise<Env>;
  stop(): Promise<void>;
}

/** Starts Kafka and MongoDB; a log is started for each relay. */
export async function startOutsideEngines(partitions: number): Promise<OutsideEngines> {
  const [kafka, mongoDb] = await Promise.all([startKafka(), startMongoDb()]);
  const started: { stop(): Promise<void> }[] = [kafka, mongoDb];
  return {
    description: `${kafka.description}; ${mongoDb.description}`,
    async fresh() {
      const log = await startEventStoreDb();
      started.push(log);
      return relayOn(log, kafka, mongoDb, { partitions });
    },
    async stop() {
      await Promise.all(started.map((engine) => engine.stop()));
    },
  };
}
