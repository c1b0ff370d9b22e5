import { contained } from "../container.ts";
import { imageOf } from "../images.ts";
import type { MongoDbUnderTest } from "./server.ts";

const port = 27_017;

/** MongoDB itself in a container; undefined where no container runtime answers. */
export async function containedMongoDb(): Promise<MongoDbUnderTest | undefined> {
  const engine = await contained(imageOf("mongodb"), (container, { Wait }) => container
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forLogMessage("Waiting for connections")));
  return engine && { ...engine, url: `mongodb://${engine.host}:${engine.port(port)}/` };
}
