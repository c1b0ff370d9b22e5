import { namedBy } from "./engine.ts";
import { containedEventStoreDb } from "./eventstoredb/container.ts";
import { startServerProcess } from "./eventstoredb/process.ts";
import type { EventStoreDbUnderTest } from "./eventstoredb/server.ts";

export type { EventStoreDbUnderTest };

/**
 * A server: the one that RELAY_TEST_EVENTSTOREDB_URL names, else a real one in a container where a runtime answers,
 * else the wire-compatible one, in a process and on data of its own.
 */
export async function startEventStoreDb(): Promise<EventStoreDbUnderTest> {
  const variable = "RELAY_TEST_EVENTSTOREDB_URL";
  const url = process.env[variable];
  const named = url ? { ...namedBy(variable), url } : undefined;
  const server = named ?? (await containedEventStoreDb()) ?? (await startServerProcess());
  process.stdout.write(`  EventStoreDB tests run on ${server.description}\n`);
  return server;
}
