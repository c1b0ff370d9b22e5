import { setTimeout as wait } from "node:timers/promises";
import { MongoClient } from "mongodb";
import { contained } from "../container.ts";
import { imageOf } from "../images.ts";
import type { MongoDbUnderTest } from "./server.ts";

const port = 27_017;

/** MongoDB itself in a container, as a replica set of one; undefined where no container runtime answers. */
export async function containedMongoDb(): Promise<MongoDbUnderTest | undefined> {
  const engine = await contained(imageOf("mongodb"), (container, { Wait }) => container
    .withCommand(["--replSet", "rs0"])
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forLogMessage("Waiting for connections")));
  if (!engine) return undefined;
  // The set knows its member by a name that resolves only inside the container.
  const url = `mongodb://${engine.host}:${engine.port(port)}/?directConnection=true`;
  await initiate(url);
  return { ...engine, url };
}

/** Makes the replica set; resolves when it has its primary. */
async function initiate(url: string): Promise<void> {
  const client = await MongoClient.connect(url);
  const admin = client.db("admin");
  const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
  await admin.command({ replSetInitiate: { _id: "rs0", members } });
  while (!(await admin.command({ hello: 1 }))["isWritablePrimary"]) await wait(50);
  await client.close();
}
