import { containedEventStoreDb } from "./eventstoredb/container.ts";
import { startServerProcess } from "./eventstoredb/process.ts";
import type { EventStoreDbUnderTest } from "./eventstoredb/server.ts";

export type { EventStoreDbUnderTest };

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
