import type { MongoDbUnderTest } from "./server.ts";

const image = "mongo:8.0";
const port = 27_017;

/** MongoDB itself in a container; undefined where no container runtime answers. */
export async function containedMongoDb(): Promise<MongoDbUnderTest | undefined> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import("testcontainers");
  const runtime = await getContainerRuntimeClient().catch(() => undefined);
  if (!runtime) return undefined;
  const started = await new GenericContainer(image)
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forLogMessage("Waiting for connections"))
    .start();
  const container = runtime.container.getById(started.getId());
  const url = `mongodb://${started.getHost()}:${started.getMappedPort(port)}/`;
  return {
    url,
    description: `${image} in a container`,
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
