import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { collections, project } from "../../projections/index.ts";
import { AesSealing } from "../../src/adapters/aes-sealing/aes-sealing.ts";
import { BcryptPasswords } from "../../src/adapters/bcrypt/bcrypt-passwords.ts";
import { JwtTokens } from "../../src/adapters/jose/jwt-tokens.ts";
import { SystemClock } from "../../src/adapters/system/system-clock.ts";
import { SystemIds } from "../../src/adapters/system/system-ids.ts";
import { serveAll } from "../../src/application/aggregate-types.ts";
import { Aggregates } from "../../src/application/aggregates.ts";
import { Directory } from "../../src/application/directory.ts";
import { Freshness } from "../../src/application/freshness.ts";
import { EmailOpener } from "../../src/application/people.ts";
import { createServices, type ServiceSettings, type World } from "../../src/application/services.ts";
import { Vault } from "../../src/application/vault.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { logStart, type Subscription } from "../../src/ports/event-store.ts";
import type { Logger, Metrics } from "../../src/ports/telemetry.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { InMemoryEventStore } from "./in-memory-event-store.ts";
import { InMemoryExpiringState } from "./in-memory-expiring-state.ts";
import { InMemoryReadModels } from "./in-memory-read-models.ts";

/** Time that a test moves on by itself. */
export class TestClock extends SystemClock implements Clock {
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
  readonly clock: TestClock;
  readonly store: InMemoryEventStore;
  readonly readModels: InMemoryReadModels;
  readonly state: InMemoryExpiringState;
  readonly masterKey: Uint8Array;
  /** Keeps the read models up with the log. */
  readonly projector: Subscription;
}

/** Fresh engines. */
export async function sharedEngines(): Promise<SharedEngines> {
  const clock = new TestClock();
  const store = new InMemoryEventStore();
  const readModels = new InMemoryReadModels();
  await readModels.reset(collections, "");
  const masterKey = new SystemIds().secretBytes(32);
  const sealing = new AesSealing(masterKey);
  const opener = new EmailOpener({ store, sealing, vault: new Vault(sealing, { max: 100 }) }, { max: 100 });
  const projector = store.subscribe({ after: logStart }, async (entries, upTo) => {
    const prepared = await opener.prepare(entries);
    const batch = prepared.filter((entry) => entry.unreadable === undefined)
      .map((entry) => ({ position: entry.position, changes: project(entry) }));
    await readModels.apply(batch, upTo);
  });
  return { clock, store, readModels, state: new InMemoryExpiringState(clock), masterKey, projector };
}

/** An API process on shared engines. */
export interface TestApi {
  readonly url: string;
  readonly world: World;
  readonly services: ReturnType<typeof createServices>;
  readonly server: Server;
  /** What was logged as an error: it should be nothing. */
  readonly errors: readonly object[];
  close(): Promise<void>;
}

const silent: Metrics = {
  accepted: () => undefined,
  ingest: () => undefined,
  attempt: () => undefined,
  firstAttemptDelay: () => undefined,
  trouble: () => undefined,
};

/** Starts an API over a real socket; the limits are off unless set. */
export async function startApi(
  engines: SharedEngines,
  options: Partial<ServiceSettings> & { readonly maxBodyBytes?: number; readonly trustedProxies?: number } = {},
): Promise<TestApi> {
  const { clock, store, readModels, state } = engines;
  const ids = new SystemIds();
  const sealing = new AesSealing(engines.masterKey);
  const passwords = new BcryptPasswords(4);
  const aggregates = new Aggregates(store, { clock, ids }, { max: 1_000 });
  serveAll(aggregates);
  const freshness = new Freshness(store, readModels);
  const directory = new Directory({ aggregates, readModels, freshness, clock }, { max: 1_000 });
  const feed = store.subscribe({ after: await store.head(), categories: aggregates.categories }, (entries) => {
    aggregates.follow(entries);
    directory.follow(entries);
  });
  const world: World = {
    store, readModels, state, sealing, passwords, clock, ids, aggregates, directory, freshness,
    tokens: new JwtTokens(),
    metrics: silent,
    outbound: { refusalOf: (url) => (new URL(url).hostname === "127.0.0.1" ? "address refused" : null) },
    vault: new Vault(sealing, { max: 1_000 }),
  };
  const services = createServices(world, {
    accessTokenTtlMs: 3_600_000,
    limits: { loginFailures: null, tenantCreation: null },
    peopleInMemory: 1_000,
    ...options,
  });
  const errors: object[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (fields) => errors.push(fields),
  };
  const server = createHttpServer({
    services, clock, ids, logger,
    metrics: silent,
    health: { ready: async () => null, metrics: async () => "# no metrics here\n" },
    maxBodyBytes: options.maxBodyBytes ?? 262_144,
    trustedProxies: options.trustedProxies ?? 0,
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    world, services, server, errors,
    close: async () => {
      await feed.stop();
      server.close();
      server.closeAllConnections();
      await passwords.close();
    },
  };
}
