import { releases } from "../eventstoredb-server/release.ts";
import { namedBy } from "./engine.ts";
import { containedEventStoreDb } from "./eventstoredb/container.ts";
import { startServerProcess } from "./eventstoredb/process.ts";
import type { EventStoreDbUnderTest } from "./eventstoredb/server.ts";

export type { EventStoreDbUnderTest };

const variable = "RELAY_TEST_EVENTSTOREDB_URL";

/** The server that RELAY_TEST_EVENTSTOREDB_URL names; undefined where it names none. */
export function namedEventStoreDb(): EventStoreDbUnderTest | undefined {
  const url = process.env[variable];
  return url ? { ...namedBy(variable), url } : undefined;
}

/**
 * A server: the named one, else a real one in a container where a runtime answers, else the wire-compatible one, in a
 * process and on data of its own.
 */
export async function startEventStoreDb(): Promise<EventStoreDbUnderTest> {
  return told((await startRealOne()) ?? (await startServerProcess()));
}

/** The same; in place of one wire-compatible server, one as each release behaves. */
export async function startEventStoreDbs(): Promise<readonly EventStoreDbUnderTest[]> {
  const real = await startRealOne();
  return (real ? [real] : await Promise.all(releases.map((release) => startServerProcess(release)))).map(told);
}

async function startRealOne(): Promise<EventStoreDbUnderTest | undefined> {
  return namedEventStoreDb() ?? (await containedEventStoreDb());
}

function told(server: EventStoreDbUnderTest): EventStoreDbUnderTest {
  process.stdout.write(`  EventStoreDB tests run on ${server.description}\n`);
  return server;
}
