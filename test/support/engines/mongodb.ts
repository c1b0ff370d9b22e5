import { connectMongoDb } from "../../../src/engines/mongodb/connection.ts";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import { quiet } from "../telemetry.ts";
import { namedBy } from "./engine.ts";
import { containedMongoDb } from "./mongodb/container.ts";
import { packagedMongoDb } from "./mongodb/secantus.ts";
import type { MongoDbUnderTest } from "./mongodb/server.ts";

export type { MongoDbUnderTest };

/**
 * A server: the server at RELAY_TEST_MONGODB_URL, else a real one in a container where a runtime answers, else
 * SecantusDB from its package, as a replica set. `ours`: a server that may be killed and frozen.
 */
export async function startMongoDb({ ours = false }: { readonly ours?: boolean } = {}): Promise<MongoDbUnderTest> {
  const variable = "RELAY_TEST_MONGODB_URL";
  const url = ours ? undefined : process.env[variable];
  const named = url ? { ...namedBy(variable), url } : undefined;
  const server = named ?? (await containedMongoDb()) ?? (await packagedMongoDb());
  const description = await describe(server);
  process.stdout.write(`  MongoDB tests run on ${description}\n`);
  return { ...server, description };
}

let shared: Promise<MongoDbUnderTest> | undefined;

/** The server that all tests of this process share; it is stopped when the process ends. */
export function sharedMongoDb(): Promise<MongoDbUnderTest> {
  return (shared ??= startMongoDb());
}

/**
 * For a `before` hook: the shared server, or one for this context alone that may be broken. Where it cannot be had the
 * tests of the context are skipped, by name; in CI they fail. The first time, the engine may have to be installed.
 */
export async function mongoDbOrSkip(
  context: Mocha.Context,
  { ours = false }: { readonly ours?: boolean } = {},
): Promise<MongoDbUnderTest> {
  context.timeout(600_000);
  try {
    return await (ours ? startMongoDb({ ours }) : sharedMongoDb());
  } catch (error) {
    if (process.env["CI"] === "true") throw error;
    process.stdout.write(`  No MongoDB: ${String(error)}\n`);
    return context.skip();
  }
}

let databases = 0;

/** The URL of a database that nobody else uses. */
export function newDatabase(server: Pick<MongoDbUnderTest, "url">): string {
  const named = new URL(server.url);
  databases += 1;
  named.pathname = `/relay-test-${process.pid}-${databases}`;
  return named.href;
}

async function describe({ url, description }: Pick<MongoDbUnderTest, "url" | "description">): Promise<string> {
  const connection = connectMongoDb(url, { clock: new SystemClock(), logger: quiet });
  try {
    const [{ version }, { setName }] = await Promise.all([
      connection.db.admin().command({ buildInfo: 1 }),
      connection.db.admin().command({ hello: 1 }),
    ]);
    return `${description}, which says it is ${version}, ${setName ? `replica set ${setName}` : "a sharded cluster"}`;
  } finally {
    await connection.close();
  }
}
