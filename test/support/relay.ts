import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import type { Schemas } from "../../packages/client/src/index.ts";
import { createLogger } from "../../src/engines/pino/logger.ts";
import type { Logger } from "../../src/kernel/ports/telemetry.ts";
import { readConfig } from "../../src/main/config/config.ts";
import { readSecrets } from "../../src/main/config/secrets.ts";
import { startRelay, type Relay } from "../../src/main/relay.ts";
import { ApiClient, isUnavailable, relayClient, type Json } from "./api-client.ts";
import type { Receiver } from "./receiver.ts";

/** A relay of a test's own, on the embedded engines, with short times and cheap passwords. */
export interface TestRelay {
  readonly url: string;
  readonly dataDir: string;
  /** Stops it and starts another on the same data. */
  restart(): Promise<void>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/** Environment of a relay under test; `receiver` is one it may call. */
export function testEnvironment(dataDir: string, receiver: Pick<Receiver, "caPem"> | null): Record<string, string> {
  const caFile = join(dataDir, "..", "receiver-ca.pem");
  if (receiver) writeFileSync(caFile, receiver.caPem);
  return {
    RELAY_PORT: "0",
    RELAY_DATA_DIR: dataDir,
    RELAY_PASSWORD_COST: "4",
    RELAY_LIMIT_TENANT_CREATION: "off",
    RELAY_RETRY_SCHEDULE: "50ms,100ms",
    RELAY_DELIVERY_TIMEOUT: "2s",
    RELAY_LOG_LEVEL: "silent",
    // The hundreds of processes that the tests start need not compile the program again.
    NODE_COMPILE_CACHE: join(import.meta.dirname, "../../node_modules/.cache/compiled"),
    ...(receiver ? { RELAY_EXTRA_CA_FILE: caFile, RELAY_ALLOWED_NETWORKS: "127.0.0.0/8" } : {}),
  };
}

/** A folder of a test's own, the data folder to be made in it. */
export function temporaryDataDir(): string {
  return join(mkdtempSync(join(tmpdir(), "relay-test-")), "data");
}

/** Starts a relay in this process. `env` overrides the defaults of {@link testEnvironment}; `logger` gets its lines. */
export async function startTestRelay(
  receiver: Pick<Receiver, "caPem"> | null,
  env: Readonly<Record<string, string>> = {},
  logger?: Logger,
): Promise<TestRelay> {
  const dataDir = temporaryDataDir();
  const environment = { ...testEnvironment(dataDir, receiver), ...env };
  const start = () => {
    const config = readConfig(environment);
    const secrets = readSecrets(environment, config);
    return startRelay({ config, secrets, logger: logger ?? createLogger(config.logLevel) });
  };
  let relay: Relay = await start();
  return {
    get url() {
      return relay.url;
    },
    dataDir,
    async restart() {
      await relay.stop();
      relay = await start();
    },
    async close() {
      await relay.stop();
      rmSync(join(dataDir, ".."), { recursive: true, force: true });
    },
  };
}

/** A tenant with its Owner logged in, and a producer's key. */
export interface Account {
  readonly tenantId: string;
  readonly webhookSecret: string;
  readonly email: string;
  readonly password: string;
  readonly owner: ApiClient;
  readonly producer: ApiClient;
  /** A destination and the path its events are posted to. */
  destination(fields: Schemas["CreateDestinationRequest"]): Promise<{ readonly id: string; readonly ingest: string }>;
}

let accounts = 0;

/** Makes a tenant by the API. */
export async function openAccount(
  url: string, settings: Partial<Schemas["CreateTenantRequest"]> = {},
): Promise<Account> {
  accounts += 1;
  const email = `owner-${accounts}-${process.pid}@example.com`;
  const password = "correct horse battery";
  const fields = { name: `Tenant ${accounts} ${process.pid}`, ownerEmail: email, ownerPassword: password, ...settings };
  const { tenantId, webhookSecret } = await relayClient(url).createTenant(fields);
  const { accessToken } = await relayClient(url).login({ email, password });
  const client = relayClient(url, { token: accessToken });
  const { apiKey } = await client.createApiKey({ name: "producer" });
  return {
    tenantId,
    webhookSecret,
    email,
    password,
    owner: new ApiClient(url, { authorization: `Bearer ${accessToken}` }),
    producer: new ApiClient(url, { "x-api-key": apiKey }),
    async destination(destination) {
      const { id, ingestToken } = await client.createDestination(destination);
      return { id, ingest: `/api/v1/ingest/${tenantId}/${ingestToken}` };
    },
  };
}

/**
 * Asks again until the answer is as wanted, also where an {@link ApiClient} is answered 503: read models may be behind.
 * It asks less often the longer it waits, so that it leaves the processor to the relay. Rejects with the last answer
 * after `timeoutMs`, which is shorter than Mocha's limit.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  wanted: (answer: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const begun = performance.now();
  for (;;) {
    let last: unknown;
    try {
      const answer = await ask();
      if (wanted(answer)) return answer;
      last = answer;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      last = error.message;
    }
    const waitedMs = performance.now() - begun;
    if (waitedMs > timeoutMs) throw new Error(`not within ${timeoutMs} ms; last: ${inspect(last)}`);
    await pause(Math.min(10 + waitedMs / 20, 100));
  }
}

/** Waits until an event has a status. */
export function eventReaches(api: ApiClient, eventId: string, status: string, timeoutMs?: number): Promise<Json> {
  return eventually(() => api.get(`/api/v1/events/${eventId}`), (event) => event["status"] === status, timeoutMs);
}
