import type { GenericContainer } from "testcontainers";
import type { Engine } from "./engine.ts";

/** An engine of a test's own in a container. */
export interface Contained extends Engine {
  /** Where it is reached from outside: the host, and the port for one inside. */
  readonly host: string;
  readonly port: (inside: number) => number;
}

/** Starts an image as `prepared` says; undefined where no container runtime answers. */
export async function contained(
  image: string,
  prepared: (container: GenericContainer, tools: typeof import("testcontainers")) => GenericContainer,
): Promise<Contained | undefined> {
  const tools = await import("testcontainers");
  const runtime = await tools.getContainerRuntimeClient().catch(() => undefined);
  if (!runtime) return undefined;
  const started = await prepared(new tools.GenericContainer(image), tools).start();
  const container = runtime.container.getById(started.getId());
  return {
    host: started.getHost(),
    port: (inside) => started.getMappedPort(inside),
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
