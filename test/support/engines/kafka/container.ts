import { answering } from "../answering.ts";
import { imageOf } from "../images.ts";
import type { KafkaUnderTest, Ports } from "./broker.ts";
import { quickProperties } from "./properties.ts";

const startsWithinMs = 120_000;

/** A broker in a container; undefined where no container runtime answers. */
export async function containerBroker(ports: Ports): Promise<KafkaUnderTest | undefined> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import("testcontainers");
  const runtime = await getContainerRuntimeClient().catch(() => undefined);
  if (!runtime) return undefined;
  const { direct: port, detour } = ports;
  const image = imageOf("kafka");
  const started = await new GenericContainer(image)
    // The same ports inside and outside: the broker tells clients where it is, and a restart must not move it.
    .withExposedPorts({ container: port, host: port }, { container: detour.to, host: detour.to })
    .withEnvironment(environment(quickProperties(ports, "0.0.0.0")))
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .withStartupTimeout(startsWithinMs)
    .start();
  const container = runtime.container.getById(started.getId());
  const state = async () => (await container.inspect()).State;
  const restart = async () => {
    await container.start();
    await answering(port, startsWithinMs, new AbortController().signal);
  };
  return {
    brokers: [`127.0.0.1:${port}`],
    description: `${image} in a container, on port ${port}`,
    breakable: true,
    detour,
    secure: null,
    stop: async () => {
      const { Paused: paused, Running: running } = await state();
      if (paused) await container.unpause();
      if (!running) await restart();
    },
    kill: async () => { await container.kill({ signal: "SIGKILL" }); },
    restart,
    freeze: async () => { await container.pause(); },
    thaw: async () => { await container.unpause(); },
  };
}

/** The image reads its settings from variables named after them. */
function environment(properties: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [`KAFKA_${name.replaceAll(".", "_").toUpperCase()}`, value]),
  );
}
