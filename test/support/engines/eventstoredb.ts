import { containedEventStoreDb } from "./eventstoredb/container.ts";
import { startServerProcess } from "./eventstoredb/process.ts";

/** A server for tests. */
export interface EventStoreDbUnderTest {
  readonly url: string;
  readonly description: string;
  /** Whether it was started here: one that is somebody's refuses everything but `stop`. */
  readonly breakable: boolean;
  /** Lets go of it, and ends it if it was started here. */
  readonly stop: () => Promise<void>;
  /** Ends it the hard way; what it acknowledged is there after `restart`. */
  readonly kill: () => Promise<void>;
  /** Starts it again at the same address and on the same data. */
  readonly restart: () => Promise<void>;
  /** Lets it keep its connections and do nothing. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
}

/**
 * A server: the one that RELAY_TEST_EVENTSTOREDB_URL names, else a real one in a container where a runtime answers,
 * else the wire-compatible one, in a process and on data of its own.
 */
export async function startEventStoreDb(): Promise<EventStoreDbUnderTest> {
  const named = process.env["RELAY_TEST_EVENTSTOREDB_URL"];
  const server = named ? namedEventStoreDb(named) : ((await containedEventStoreDb()) ?? (await startServerProcess()));
  process.stdout.write(`  EventStoreDB tests run on ${server.description}\n`);
  return server;
}

function namedEventStoreDb(url: string): EventStoreDbUnderTest {
  const refuse = () => Promise.reject(new Error("a server that is not ours is neither killed nor frozen"));
  return {
    url,
    description: "the server that RELAY_TEST_EVENTSTOREDB_URL names",
    breakable: false,
    stop: async () => undefined,
    kill: refuse,
    restart: refuse,
    freeze: refuse,
    thaw: refuse,
  };
}
