import { freePort } from "../../free-port.ts";
import { contained } from "../container.ts";
import { imageOf } from "../images.ts";
import type { EventStoreDbUnderTest } from "./server.ts";

const port = 2113;

/** EventStoreDB itself in a container; undefined where no container runtime answers. */
export async function containedEventStoreDb(): Promise<EventStoreDbUnderTest | undefined> {
  // A port that the runtime picks would be another one after a restart.
  const host = await freePort();
  const engine = await contained(imageOf("eventstoredb"), (container, { Wait }) => container
    .withEnvironment({ EVENTSTORE_INSECURE: "true", EVENTSTORE_CLUSTER_SIZE: "1", EVENTSTORE_RUN_PROJECTIONS: "None" })
    .withExposedPorts({ container: port, host })
    .withWaitStrategy(Wait.forHttp("/health/live", port).forStatusCode(204)));
  return engine && { ...engine, url: `esdb://${engine.host}:${host}?tls=false`, breakable: true };
}
