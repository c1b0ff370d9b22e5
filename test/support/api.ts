import { once } from "node:events";
import type { Server } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collections, fingerprint } from "../../projections/index.ts";
import { AesSealing } from "../../src/adapters/aes-sealing/aes-sealing.ts";
import { BcryptPasswords } from "../../src/adapters/bcrypt/bcrypt-passwords.ts";
import { SqliteExpiringState } from "../../src/adapters/embedded-expiring-state/sqlite-expiring-state.ts";
import { JmespathMappings } from "../../src/adapters/jmespath/jmespath-mappings.ts";
import { JwtTokens } from "../../src/adapters/jose/jwt-tokens.ts";
import { SystemClock } from "../../src/adapters/system/system-clock.ts";
import { SystemIds } from "../../src/adapters/system/system-ids.ts";
import { EmailOpener } from "../../src/application/accounts/email-opener.ts";
import { openRegistration, type RegistrationGuards } from "../../src/application/accounts/registration-guards.ts";
import { serveAll } from "../../src/application/aggregate-types.ts";
import { Aggregates } from "../../src/application/aggregates.ts";
import { FirstAttempts } from "../../src/application/delivery/first-attempts.ts";
import { Freshness } from "../../src/application/freshness.ts";
import { Directory } from "../../src/application/ingest/directory.ts";
import { Vault } from "../../src/application/keys/vault.ts";
import { createServices, type ServiceParts, type ServiceSettings } from "../../src/application/services.ts";
import { openEngines } from "../../src/composition/engines/engines.ts";
import type { Config } from "../../src/config/config.ts";
import type { EventStore } from "../../src/ports/event-store.ts";
import type { ExpiringState } from "../../src/ports/expiring-state.ts";
import type { ReadModels } from "../../src/ports/read-models.ts";
import type { Logger } from "../../src/ports/telemetry.ts";
import { createApp } from "../../src/http/app.ts";
import { createHttpServer } from "../../src/http/server.ts";
import type { ProjectionRunner } from "../../src/workers/projection/projection-runner.ts";
import { startEventStoreDb } from "./engines/eventstoredb.ts";
import { newDatabase, sharedMongoDb } from "./engines/mongodb.ts";
import { InMemoryEventStore } from "./in-memory-event-store.ts";
import { InMemoryReadModels } from "./in-memory-read-models.ts";
import { projectorOf } from "./projector.ts";
import { quiet, uncounted } from "./telemetry.ts";

/** Time that a test moves on by itself. */
export class TestClock extends SystemClock {
  #ahead = 0;

  override now(): number {
    return super.now() + this.#ahead;
  }

  advance(ms: number): void {
    this.#ahead += ms;
  }
}

/** The engines that several processes share. */
export interface SharedEngines {
  /** The API's clock. */
  readonly clock: TestClock;
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly state: ExpiringState;
  readonly masterKey: Uint8Array;
  readonly close: () => Promise<void>;
}

/** Engines that a test can make fail, and whose time it owns; the log may be another. */
export interface InMemoryEngines<Log extends EventStore = InMemoryEventStore> extends SharedEngines {
  readonly store: Log;
  readonly readModels: InMemoryReadModels;
  /** Keeps the read models up with the log. */
  readonly projector: ProjectionRunner;
  /** Keeps the read models behind until the answer is called. */
  holdBackProjector(): () => void;
}

/** Fresh engines in memory; the expiring state keeps the test's time. */
export function inMemoryEngines(): Promise<InMemoryEngines> {
  return enginesOver(new InMemoryEventStore());
}

/** The same over a log that is the caller's to close. */
export async function enginesOver<Log extends EventStore>(store: Log): Promise<InMemoryEngines<Log>> {
  const clock = new TestClock();
  const readModels = new InMemoryReadModels();
  await readModels.reset(collections, fingerprint);
  const state = new SqliteExpiringState(":memory:", clock);
  const masterKey = new SystemIds().secretBytes(32);
  const sealing = new AesSealing(masterKey);
  const opener = new EmailOpener({ store, sealing, vault: new Vault(sealing) }, { max: 100 });
  let gate = Promise.resolve();
  let letGo = () => {};
  const holdBackProjector = () => {
    // A test that failed may hold it back still.
    letGo();
    ({ promise: gate, resolve: letGo } = Promise.withResolvers<void>());
    return letGo;
  };
  const projector = projectorOf({
    log: store,
    models: readModels,
    clock,
    prepare: async (entries) => {
      await gate;
      return opener.prepare(entries);
    },
  });
  projector.start();
  return {
    clock,
    store,
    readModels,
    state,
    masterKey,
    projector,
    holdBackProjector,
    close: async () => {
      letGo();
      await projector.stop();
      await state.close();
    },
  };
}

/** Fresh embedded engines, in a folder of their own. Their expiring state keeps the machine's time. */
export function embeddedEngines(): Promise<SharedEngines> {
  return openedEngines({ eventStore: { engine: "embedded" }, readModels: { engine: "embedded" } });
}

/** A log in EventStoreDB and a database in MongoDB, or in what stands for them here. They keep the machine's time. */
async function outsideEngines(): Promise<SharedEngines> {
  const [eventStoreDb, mongoDb] = await Promise.all([startEventStoreDb(), sharedMongoDb()]);
  const engines = await openedEngines({
    eventStore: { engine: "eventstoredb", url: eventStoreDb.url },
    readModels: { engine: "mongodb", url: newDatabase(mongoDb) },
  });
  const close = async () => {
    await engines.close();
    await eventStoreDb.stop();
  };
  return { ...engines, close };
}

async function openedEngines(chosen: Pick<Config, "eventStore" | "readModels">): Promise<SharedEngines> {
  const folder = mkdtempSync(join(tmpdir(), "relay-api-"));
  const masterKey = new SystemIds().secretBytes(32);
  const clock = new TestClock();
  const fail = (error: Error) => {
    throw error;
  };
  const settings = {
    config: { dataDir: join(folder, "data"), queue: { engine: "embedded" } as const, ...chosen },
    secrets: { oldMasterKeys: [], kafkaPassword: null },
    masterKey,
    projects: true,
    logger: quiet,
    metrics: uncounted,
    onFatal: fail,
  };
  const engines = await openEngines({ ...settings, clock: new SystemClock() });
  engines.projector?.follow();
  const { store, readModels, state } = engines;
  const close = async () => {
    await engines.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { clock, store, readModels, state, masterKey, close };
}

/** A suite on the embedded engines, with `outside` on outside ones, too. They are closed after it. */
export function describeOnEngines(
  name: string,
  suite: (freshEngines: () => Promise<SharedEngines>) => void,
  { outside = false }: { readonly outside?: boolean } = {},
): void {
  for (const [kind, open] of [
    ["embedded", embeddedEngines],
    ...(outside ? [["on EventStoreDB and MongoDB", outsideEngines] as const] : []),
  ] as const) {
    describe(`${name}, ${kind}`, () => {
      const opened: SharedEngines[] = [];
      suite(async () => {
        const engines = await open();
        opened.push(engines);
        return engines;
      });
      after(() => Promise.all(opened.map((engines) => engines.close())));
    });
  }
}

const alwaysFresh = { fresh: true, renewed: async () => true };

/** An API process on shared engines. */
export interface TestApi {
  readonly url: string;
  readonly world: ServiceParts;
  readonly services: ReturnType<typeof createServices>;
  readonly server: Server;
  /** What an operator was told, in lines at level info. */
  readonly lines: readonly { readonly message: string }[];
  /** What was logged as an error: it should be nothing. */
  readonly errors: readonly object[];
  readonly close: () => Promise<void>;
}

/** Starts an API over a real socket; the limits are off unless set. */
export async function startApi(
  engines: SharedEngines,
  options: Partial<ServiceSettings> & {
    readonly maxBodyBytes?: number;
    readonly trustedProxies?: number;
    /** Whether the process hears what others do; without, it is as one whose feed lags. */
    readonly followsLog?: boolean;
    /** Why the process says that it cannot serve. */
    readonly unreadyBecause?: string;
    /** What stands before the creation of a tenant; nothing unless said. */
    readonly guards?: RegistrationGuards;
  } = {},
): Promise<TestApi> {
  const { clock, store, readModels, state } = engines;
  const ids = new SystemIds();
  const sealing = new AesSealing(engines.masterKey);
  const passwords = new BcryptPasswords(4);
  const aggregates = new Aggregates(store, { clock, ids }, { max: 1_000 });
  serveAll(aggregates);
  const freshness = new Freshness(store, readModels, clock);
  const directory = new Directory({ aggregates, readModels, freshness, clock, following: alwaysFresh }, { max: 1_000 });
  const feed = store.subscribe({ after: await store.head(), categories: aggregates.categories }, (entries) => {
    if (options.followsLog === false) return;
    aggregates.follow(entries);
    directory.follow(entries);
  });
  const maxBodyBytes = options.maxBodyBytes ?? 262_144;
  const mappings = new JmespathMappings({ metrics: uncounted, logger: quiet, clock }, maxBodyBytes);
  const lines: { message: string }[] = [];
  const errors: object[] = [];
  const logger: Logger = {
    ...quiet,
    info: (fields, message) => lines.push({ ...fields, message }),
    error: (fields) => errors.push(fields),
  };
  const world: ServiceParts = {
    store,
    readModels,
    state,
    sealing,
    passwords,
    clock,
    ids,
    aggregates,
    directory,
    freshness,
    tokens: new JwtTokens(),
    mappings,
    logger,
    metrics: uncounted,
    outbound: { refusalOf: (url) => (new URL(url).hostname === "127.0.0.1" ? "address refused" : null) },
    vault: new Vault(sealing),
    firstAttempts: new FirstAttempts(),
    guards: options.guards ?? openRegistration,
  };
  const services = createServices(world, {
    accessTokenTtlMs: 3_600_000,
    limits: { loginFailures: null, tenantCreation: null, inviteRegistration: null },
    peopleInMemory: 1_000,
    ...options,
  });
  const server = createHttpServer(createApp({
    services,
    clock,
    ids,
    logger,
    metrics: uncounted,
    health: { ready: () => options.unreadyBecause ?? null, metrics: async () => "# no metrics here\n" },
    maxBodyBytes,
    trustedProxies: options.trustedProxies ?? 0,
  }), ids);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    world,
    services,
    server,
    lines,
    errors,
    close: async () => {
      await feed.stop();
      server.close();
      server.closeAllConnections();
      await passwords.close();
      mappings.close();
    },
  };
}
