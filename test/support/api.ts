import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AesSealing } from "../../src/engines/aes-sealing/aes-sealing.ts";
import { BcryptPasswords } from "../../src/engines/bcrypt/bcrypt-passwords.ts";
import { JmespathMappings } from "../../src/engines/jmespath/jmespath-mappings.ts";
import { JwtTokens } from "../../src/engines/jose/jwt-tokens.ts";
import { SystemIds } from "../../src/engines/system/system-ids.ts";
import { CredentialLookup } from "../../src/features/ingest/credential-lookup.ts";
import { FirstAttempts } from "../../src/features/ingest/first-attempts.ts";
import { serveAll, createServices, type ServiceParts, type ServiceSettings } from "../../src/features/services.ts";
import { openRegistration, type RegistrationGuards } from "../../src/features/tenants/registration-guards.ts";
import { createApp } from "../../src/http/app.ts";
import type { SharedMemory } from "../../src/http/memory/request-memory.ts";
import type { PortalPages } from "../../src/http/pages/pages.ts";
import { createHttpServer, type ServerParts } from "../../src/http/server.ts";
import { Aggregates } from "../../src/kernel/log/aggregates.ts";
import type { Logger } from "../../src/kernel/ports/telemetry.ts";
import { Freshness } from "../../src/kernel/read-models/freshness.ts";
import { Vault } from "../../src/kernel/sealing/vault.ts";
import type { SharedEngines } from "./api-engines.ts";
import { ampleMemory } from "./shared-memory.ts";
import { quiet, uncounted } from "./telemetry.ts";

const alwaysFresh = { fresh: true, renewed: async () => true };

/** An API process on shared engines. */
export interface TestApi {
  readonly url: string;
  readonly world: ServiceParts;
  readonly services: ReturnType<typeof createServices>;
  readonly server: Server;
  /** Answers fast-path requests to ingest. */
  readonly plain: NonNullable<ServerParts["plain"]>;
  /** Log lines at level info. */
  readonly lines: readonly { readonly message: string }[];
  /** Logged errors; a test expects none. */
  readonly errors: readonly object[];
  /** Ends the answers that would go on for long, as the end of the process does. */
  readonly endStreams: () => void;
  readonly close: () => Promise<void>;
}

/** Starts an API over a real socket. Unless set, the limits are off and logins fail at once. */
export async function startApi(
  engines: SharedEngines,
  options: Partial<ServiceSettings> & {
    readonly maxBodyBytes?: number;
    readonly trustedProxies?: number;
    /** Whether the process follows the log; without, it is like a process whose feed lags. */
    readonly followsLog?: boolean;
    /** Why the process says that it cannot serve. */
    readonly unreadyBecause?: string;
    /** The memory budget of bodies and answers; ample by default. */
    readonly memory?: SharedMemory;
    /** Checks before the creation of a tenant; none by default. */
    readonly guards?: RegistrationGuards;
    /** The folder of the built pages; none by default. */
    readonly pages?: string;
    /** The looks of the portal's pages. */
    readonly portalPages?: PortalPages;
  } = {},
): Promise<TestApi> {
  const { clock, store, readModels, state } = engines;
  const ids = new SystemIds();
  const sealing = new AesSealing(engines.masterKey);
  const passwords = new BcryptPasswords(4);
  const aggregates = new Aggregates(store, { clock, ids }, { max: 1_000 });
  serveAll(aggregates);
  const freshness = new Freshness(store, readModels, clock);
  const credentials = new CredentialLookup(
    { store, aggregates, readModels, freshness, clock, following: alwaysFresh }, { max: 1_000 },
  );
  const feed = store.subscribe({ after: await store.head(), categories: aggregates.categories }, (entries) => {
    if (options.followsLog === false) return;
    aggregates.follow(entries);
    credentials.follow(entries);
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
    credentials,
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
  let url = "";
  const services = createServices(world, {
    accessTokenTtlMs: 3_600_000,
    limits: { loginFailures: null, tenantCreation: null, inviteRegistration: null },
    peopleInMemory: 1_000,
    failedLoginMs: 0,
    portal: { publicUrl: () => url, brand: { name: null, color: null, logo: false } },
    ...options,
  });
  const memory = options.memory ?? ampleMemory(clock);
  const closing = new AbortController();
  const { app, answerIngest } = createApp({
    services,
    memory,
    clock,
    ids,
    logger,
    metrics: uncounted,
    health: { ready: () => options.unreadyBecause ?? null, metrics: async () => "# no metrics here\n" },
    maxBodyBytes,
    trustedProxies: options.trustedProxies ?? 0,
    pages: options.pages ?? null,
    portal: options.portalPages ?? { origins: [], logo: null },
    closing: closing.signal,
  });
  const plain = { answerIngest, memory, maxBodyBytes };
  const server = createHttpServer(app, { ids, clock }, { plain });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    world,
    services,
    server,
    plain,
    lines,
    errors,
    endStreams: () => closing.abort(),
    close: async () => {
      await services.live.stop();
      await feed.stop();
      server.close();
      server.closeAllConnections();
      await passwords.close();
      mappings.close();
    },
  };
}
