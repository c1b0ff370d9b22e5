import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import type { EventStoreDbUnderTest } from "./server.ts";

const image = "eventstore/eventstore:23.10.6-jammy";
const port = 2113;

/** EventStoreDB itself in a container; undefined where no container runtime answers. */
export async function containedEventStoreDb(): Promise<EventStoreDbUnderTest | undefined> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import("testcontainers");
  const runtime = await getContainerRuntimeClient().catch(() => undefined);
  if (!runtime) return undefined;
  // A port that the runtime picks would be another one after a restart.
  const host = await freePort();
  const started = await new GenericContainer(image)
    .withEnvironment({ EVENTSTORE_INSECURE: "true", EVENTSTORE_CLUSTER_SIZE: "1", EVENTSTORE_RUN_PROJECTIONS: "None" })
    .withExposedPorts({ container: port, host })
    .withWaitStrategy(Wait.forHttp("/health/live", port).forStatusCode(204))
    .start();
  const container = runtime.container.getById(started.getId());
  return {
    url: `esdb://${started.getHost()}:${host}?tls=false`,
    description: `${image} in a container`,
    breakable: true,
    stop: async () => {
      await started.stop();
    },
    kill: async () => {
      await container.kill();
    },
    restart: async () => {
      await container.kill().catch(() => undefined);
      await container.start();
    },
    freeze: async () => {
      await container.pause();
    },
    thaw: async () => {
      await container.unpause();
    },
  };
}

/** A port that nobody listened on a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return free;
}
