import { processRoles, type ProcessRole } from "../../src/main/config/config.ts";
import { relayOn } from "./engines/environment.ts";
import { startEventStoreDb } from "./engines/eventstoredb.ts";
import { kafkaOrSkip, type KafkaUnderTest } from "./engines/kafka.ts";
import { mongoDbOrSkip, type MongoDbUnderTest } from "./engines/mongodb.ts";
import type { Receiver } from "./receiver.ts";
import { startTestRelay, type TestRelay } from "./relay.ts";
import { RelayProcess } from "./relay-process.ts";
import type { Reachable } from "./relay-process-load.ts";

type Env = Readonly<Record<string, string>>;
type Trusted = Pick<Receiver, "caPem"> | null;

/** Engines outside of the relay's processes, for one relay. */
export interface OutsideEngines {
  /** The environment of a relay that uses them, with data of its own. */
  readonly env: Env;
  readonly eventStoreDb: Awaited<ReturnType<typeof startEventStoreDb>>;
  readonly kafka: KafkaUnderTest;
  readonly mongoDb: MongoDbUnderTest;
  close(): Promise<void>;
}

/** How a relay is put together. */
export interface Topology {
  readonly name: string;
  readonly engines: "embedded" | "outside";
  /** Starts one on fresh data; skips the tests, by name, where an engine cannot be had here. */
  readonly start: (context: Mocha.Context, receiver: Trusted, env?: Env) => Promise<TestRelay>;
}

const processesPerRole = 2;

/** Engines for one relay: a log of its own, a topic and a database of its own on shared servers. */
export async function outsideEngines(context: Mocha.Context): Promise<OutsideEngines> {
  const kafka = await kafkaOrSkip(context);
  const mongoDb = await mongoDbOrSkip(context);
  const eventStoreDb = await startEventStoreDb();
  const env = relayOn(eventStoreDb, kafka, mongoDb, { partitions: 4 });
  return { env, eventStoreDb, kafka, mongoDb, close: () => eventStoreDb.stop() };
}

/** Every role in processes of its own, several of each, on outside engines. */
export class Fleet implements Reachable {
  /** By role. */
  readonly processes: ReadonlyMap<ProcessRole, readonly RelayProcess[]>;
  #asked = 0;
  #closed = false;

  /** Nothing runs before {@link start}. */
  constructor(receiver: Trusted, env: Env) {
    const one = (role: ProcessRole) => new RelayProcess(receiver, { env: { ...env, RELAY_ROLES: role } });
    const several = (role: ProcessRole) => Array.from({ length: processesPerRole }, () => one(role));
    this.processes = new Map(processRoles.map((role) => [role, several(role)]));
  }

  get all(): readonly RelayProcess[] {
    return [...this.processes.values()].flat();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The URL of a running API process, of another one each time. */
  get url(): string {
    const running = this.of("api").filter(({ lives }) => lives.at(-1)?.endedAt === null);
    this.#asked += 1;
    return running[this.#asked % running.length]?.url ?? "";
  }

  /** The processes of a role. */
  of(role: ProcessRole): readonly RelayProcess[] {
    return this.processes.get(role) ?? [];
  }

  /** Resolves when an API process is ready. */
  async ready(): Promise<void> {
    await Promise.any(this.of("api").map((process) => process.ready()));
  }

  async start(): Promise<void> {
    await Promise.all(this.all.map((process) => process.start()));
  }

  async sigterm(): Promise<void> {
    await Promise.all(this.all.map((process) => process.sigterm()));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.all.map((process) => process.close()));
  }
}

/** One process on embedded engines: the default of users. */
export const embedded: Topology = {
  name: "embedded engines", engines: "embedded", start: (_context, receiver, env) => startTestRelay(receiver, env),
};

/** One process on outside engines. */
export const oneProcess: Topology = {
  name: "EventStoreDB, Kafka and MongoDB, one process", engines: "outside",
  async start(context, receiver, env) {
    const engines = await outsideEngines(context);
    const relay = await startTestRelay(receiver, { ...engines.env, ...env });
    return Object.assign(Object.create(relay) as TestRelay, {
      close: async () => {
        await relay.close();
        await engines.close();
      },
    });
  },
};

/** A {@link Fleet} on outside engines. */
export const rolesApart: Topology = {
  name: "EventStoreDB, Kafka and MongoDB, roles apart", engines: "outside",
  async start(context, receiver, env) {
    const engines = await outsideEngines(context);
    const fleet = new Fleet(receiver, { ...engines.env, ...env });
    try {
      await fleet.start();
    } catch (error) {
      await fleet.close();
      await engines.close();
      throw error;
    }
    return {
      get url() {
        return fleet.url;
      },
      dataDir: "",
      async restart() {
        await fleet.sigterm();
        await fleet.start();
      },
      async close() {
        await fleet.close();
        await engines.close();
      },
    };
  },
};

/** A suite that is to hold however a relay is put together: a function that describes it on one topology. */
export function onTopology(name: string, suite: (topology: Topology) => void): (topology: Topology) => void {
  return (topology) => describe(`${name}, on ${topology.name}`, () => suite(topology));
}
