import { existsSync } from "node:fs";
import type { Server } from "node:http";
import { fileURLToPath } from "node:url";
import { userAgent } from "../delivery/requests/request.ts";
import { AesSealing } from "../engines/aes-sealing/aes-sealing.ts";
import { BcryptPasswords } from "../engines/bcrypt/bcrypt-passwords.ts";
import { ListedDomains } from "../engines/disposable-domains/listed-domains.ts";
import { JmespathMappings } from "../engines/jmespath/jmespath-mappings.ts";
import { JwtTokens } from "../engines/jose/jwt-tokens.ts";
import { createOutboundClient } from "../engines/outbound/client.ts";
import { PrometheusMetrics } from "../engines/prometheus/prometheus-metrics.ts";
import { SystemClock } from "../engines/system/system-clock.ts";
import { SystemIds } from "../engines/system/system-ids.ts";
import { CredentialLookup } from "../features/ingest/credential-lookup.ts";
import { FirstAttempts } from "../features/ingest/first-attempts.ts";
import { KeyRotation } from "../features/key-rotation/key-rotation.ts";
import { failedLoginMs } from "../features/people/sessions/login.ts";
import { serveAll, createServices, type Services } from "../features/services.ts";
import {
  CloudRegistrationGuards, openRegistration, type CloudGuardParts, type RegistrationGuards,
} from "../features/tenants/registration-guards.ts";
import type { Api } from "../http/api.ts";
import { createApp } from "../http/app.ts";
import { createHealthApp } from "../http/health/operations.ts";
import { sharedMemory } from "../http/memory/request-memory.ts";
import { createHttpServer } from "../http/server.ts";
import { Aggregates } from "../kernel/log/aggregates.ts";
import { within, type Clock } from "../kernel/ports/clock.ts";
import type { Ids } from "../kernel/ports/ids.ts";
import type { Instruments, Logger, Metrics } from "../kernel/ports/telemetry.ts";
import { Freshness } from "../kernel/read-models/freshness.ts";
import { PlatformKeys } from "../kernel/sealing/platform-keys.ts";
import { Vault } from "../kernel/sealing/vault.ts";
import { LogTail } from "../kernel/workers/log-tail.ts";
import type { Role } from "../kernel/workers/loop.ts";
import { ProcessLease } from "../kernel/workers/process-lease.ts";
import { version, type Config } from "./config/config.ts";
import type { Secrets } from "./config/secrets.ts";
import { EngineWatch, neededBy, readiness } from "./engine-watch.ts";
import { lockEmbedded, openEngines, type Engines } from "./engines/engines.ts";
import { Listener, tryListening } from "./listener.ts";
import { requireMasterKeys, startingMasterKeyOf } from "./master-key.ts";
import { accountOperations, everyTenant, liveErasure, stoppedErasure } from "./operator/operations.ts";
import { serveOperator } from "./operator/socket.ts";
import { readingsOf } from "./readings.ts";
import { projectingRole, deliveryRoles, readModelsBuilt } from "./roles.ts";

/** A running relay. */
export interface Relay {
  readonly url: string;
  /** Finishes and records requests and attempts under way; ends by the shutdown timeout. */
  stop(): Promise<void>;
}

/** Settings of a relay or of an operator's command. */
export interface RelaySettings {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly logger: Logger;
  readonly onFatal?: (error: Error) => void;
}

/** The most entries of each in-memory cache, independent of the number in the log. */
const keptInMemory = 50_000;
/** The built pages. The program runs from `build`, a relay within a test from the sources. */
const pagesFolder = ["../../dashboard/", "../../build/dashboard/"]
  .map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync) ?? null;
/** The share of the shutdown timeout that requests and attempts under way may take; the rest is for the engines. */
const drainShare = 0.8;

interface Base extends Required<Omit<RelaySettings, "logger">> {
  readonly ids: Ids;
  readonly instruments: Instruments & { readonly metrics: Metrics };
}

type Started = Awaited<ReturnType<typeof startEngines>>;
type Following = Awaited<ReturnType<typeof startFollowing>>;
type Made = ReturnType<typeof makeServices>;

/** Starts the engines, the caches, the roles and last the API, in this order. Rejects with the reason. */
export async function startRelay(
  { config, secrets, logger, onFatal = () => undefined }: RelaySettings,
): Promise<Relay> {
  await requirePort(config);
  const clock = new SystemClock();
  const metrics = new PrometheusMetrics({ version, revision: config.revision }, clock);
  const base = { config, secrets, onFatal, ids: new SystemIds(), instruments: { clock, logger, metrics } };
  const started = await startEngines(base);
  const { sealing, engines, watch, needed, processLease } = started;
  const log = await startFollowing(base, started);
  const { followed } = log;
  let url = "";
  const made = makeServices(base, started, log, () => config.publicUrl ?? browserUrl(url));
  const { projecting, delivering } = await startRoles(base, started, log, made);
  const { store, readModels } = engines;
  const roles: readonly Role[] = [...(projecting ? [projecting] : []), ...delivering];
  metrics.watch(readingsOf({ log: store, readModels, clock, sealing, engines, watch, roles }));
  const ready = () => readiness({ needed, watch, following: followed.following });
  const health = { ready, metrics: () => metrics.text() };
  const closing = new AbortController();
  const listener = new Listener(makeServer(base, made.services, { health, closing: closing.signal }));

  const stop = async () => {
    const endAt = clock.monotonic() + config.shutdownTimeoutMs;
    const left = () => Math.max(0, endAt - clock.monotonic());
    const patience = left() * drainShare;
    endOperator();
    closing.abort();
    const serving = [made.services.live.stop(), listener.close(patience)];
    await Promise.all([...serving, ...delivering.map((role) => role.stop(patience))]);
    await Promise.all([
      projecting?.stop(left() / 2), followed.stop(), watch.stop(), processLease.stop(),
      within(clock, left() / 2, made.services.refused.flush()),
    ]);
    await within(clock, left() / 2, Promise.all([made.outbound.close(), made.passwords.close()]));
    made.mappings.close();
    await within(clock, left(), engines.close());
  };
  let endOperator: () => void = () => undefined;
  try {
    endOperator = await serveOperatorOf(base, started, log, made);
    url = await listener.listen(config.host, config.port);
  } catch (error) {
    await stop();
    throw error;
  }
  const dashboard = pagesOf(config) === null ? undefined : `${browserUrl(url)}/app/`;
  const { revision, dataDir } = config;
  logger.info({ url, version, revision, dataDir, roles: [...config.roles], dashboard }, "ready");

  return {
    url,
    async stop() {
      await stop();
      logger.info({}, "stopped");
    },
  };
}

/** Fails on a port in use before files are made. If a relay already runs on the data folder, the error names that. */
async function requirePort(config: Config): Promise<void> {
  try {
    await tryListening(config.host, config.port);
  } catch (error) {
    if (existsSync(config.dataDir)) (await lockEmbedded(config))();
    throw error;
  }
}

async function startEngines({ config, secrets, onFatal, instruments }: Base) {
  const masterKey = await startingMasterKeyOf(config, secrets, instruments.logger);
  const sealing = new AesSealing(masterKey, secrets.oldMasterKeys);
  const projects = config.roles.has("projector");
  const engines = await openEngines({ config, secrets, masterKey, projects, ...instruments, onFatal });
  const watch = new EngineWatch(engines.watched, instruments);
  const needed = neededBy(config.roles, engines.watched);
  await watch.start(needed);
  const processLease = new ProcessLease({ state: engines.state, ...instruments });
  if (engines.shared.readModels) await processLease.start();
  return { sealing, engines, watch, needed, processLease };
}

/** Starts the caches of the log after the checks that every reader of it relies on. */
async function startFollowing({ ids, instruments }: Base, { engines, sealing }: Started) {
  const { store, readModels } = engines;
  const { clock, logger } = instruments;
  const aggregates = new Aggregates(store, { clock, ids }, { max: keptInMemory });
  serveAll(aggregates);
  const rotation = new KeyRotation({ store, sealing, readModels, aggregates, clock, ids });
  await requireMasterKeys(rotation, new PlatformKeys({ store, sealing, clock, ids }));
  await finishErasure(engines, { aggregates, clock, ids, logger });
  const freshness = new Freshness(store, readModels, clock);
  const followed = await followLog(engines, { aggregates, freshness, ...instruments });
  return { aggregates, rotation, freshness, followed };
}

/** With an embedded log and embedded read models, finishes an erasure that a kill interrupted. */
async function finishErasure(
  { projector, shared, store, state }: Engines,
  { logger, ...parts }: {
    readonly aggregates: Aggregates; readonly clock: Clock; readonly ids: Ids; readonly logger: Logger;
  },
): Promise<void> {
  if (!projector || shared.log || shared.readModels) return;
  const resumed = await stoppedErasure({ ...parts, store, state }, () => projector.rebuild()).resume();
  if (resumed !== null) logger.warn({ tenantId: resumed }, "finished erasing a tenant");
}

/** Subscribes this process's caches to the log. Rejects with LogUnavailable. */
async function followLog(
  { store, readModels, shared }: Engines,
  { aggregates, freshness, clock, logger, metrics }: Instruments & {
    readonly aggregates: Aggregates; readonly freshness: Freshness;
  },
) {
  const logTail = new LogTail({
    log: store, clock, logger, metrics, categories: aggregates.categories,
    handle: (entries) => {
      aggregates.follow(entries);
      credentials.follow(entries);
    },
  });
  // No other process writes to an embedded log.
  const following = shared.log ? logTail : { fresh: true, isFollowed: true, renewed: async () => true };
  const parts = { store, aggregates, readModels, freshness, clock, following };
  const credentials = new CredentialLookup(parts, { max: keptInMemory });
  await logTail.start();
  return { credentials, following, reach: logTail, stop: () => logTail.stop() };
}

function makeServices(
  { config, secrets, ids, instruments }: Base, { engines, sealing }: Started,
  { aggregates, freshness, followed: { credentials } }: Following, publicUrl: () => string,
) {
  const { store, readModels, state } = engines;
  const { name, color, logo } = config.portal;
  const outbound = createOutboundClient({
    ...config.outbound, extraCa: config.outbound.extraCa?.pem ?? null, proxy: secrets.outboundProxy,
  });
  const passwords = new BcryptPasswords(config.passwordCost);
  const mappings = new JmespathMappings(instruments, config.maxBodyBytes);
  const vault = new Vault(sealing);
  const guards = registrationGuards(config, secrets, { outbound, state, ...instruments });
  const firstAttempts = new FirstAttempts();
  const services = createServices(
    {
      store, readModels, state, sealing, passwords, outbound, ids, ...instruments, aggregates, credentials, freshness,
      vault, mappings, guards, firstAttempts, tokens: new JwtTokens(),
    },
    {
      accessTokenTtlMs: config.accessTokenTtlMs, limits: config.limits, peopleInMemory: keptInMemory,
      failedLoginMs: failedLoginMs(config.passwordCost),
      portal: { publicUrl, brand: { name, color, logo: logo !== null } },
    },
  );
  return { services, outbound, passwords, mappings, vault, firstAttempts };
}

function registrationGuards(
  { turnstile }: Config, { turnstileSecret }: Secrets, parts: Omit<CloudGuardParts, "disposable">,
): RegistrationGuards {
  if (turnstile === null || turnstileSecret === null) return openRegistration;
  const settings = { verifyUrl: turnstile.verifyUrl, secret: turnstileSecret, userAgent: userAgent(version) };
  return new CloudRegistrationGuards({ ...parts, disposable: new ListedDomains() }, settings);
}

/** Starts the projector first: the other roles query its read models. */
async function startRoles(
  { config, ids, instruments }: Base, { engines }: Started,
  { aggregates, rotation, freshness, followed: { reach } }: Following,
  { services, outbound, vault, firstAttempts }: Made,
) {
  const { store, readModels, state, queue, shared, projector } = engines;
  const singleParts = { state, shared, owner: ids.uuid(), ...instruments };
  const projecting = projector && projectingRole({ ...singleParts, projector });
  const delivering = deliveryRoles({
    ...singleParts, store, readModels, queue, outbound, ids, aggregates, freshness, vault, rotation, firstAttempts,
    reach, deliveryTimeoutMs: config.outbound.deliveryTimeoutMs,
    purge: services.commands.purge, replaying: services.replaying, forgetting: services.forgetting,
    keys: services.keys, retry: config.retry,
  }, config.roles);
  await projecting?.start();
  await readModelsBuilt({ readModels, ...instruments });
  for (const role of delivering) await role.start();
  return { projecting, delivering };
}

/** Serves the operator's commands, as only this process can open embedded engines. Returns a function that ends it. */
async function serveOperatorOf(
  { config, ids, instruments }: Base, { engines, sealing }: Started, { aggregates, freshness }: Following,
  { passwords }: Made,
): Promise<() => void> {
  if (!engines.holdsDataFolder) return () => undefined;
  const { store, readModels, state } = engines;
  const { accessTokenTtlMs, dataDir } = config;
  const parts = { store, readModels, state, sealing, passwords, aggregates, ids, accessTokenTtlMs, ...instruments };
  const erasure = liveErasure(parts);
  return serveOperator(dataDir, {
    ...accountOperations(parts),
    tenants: async () => {
      await freshness.wait();
      return everyTenant(readModels);
    },
    "erase-tenant": async ({ tenantId }) => {
      const erased = await erasure.erase(tenantId);
      await engines.scrub();
      return erased;
    },
  }, instruments.logger);
}

/** The folder of the pages that this process serves, if any. */
function pagesOf({ roles, dashboard }: Config): string | null {
  return roles.has("api") && dashboard ? pagesFolder : null;
}

/** The address for a browser on this machine: at localhost it takes the session's cookie without TLS. */
function browserUrl(url: string): string {
  return url.replace(/127\.0\.0\.1|0\.0\.0\.0|\[::1?\]/, "localhost");
}

function makeServer(
  { config, ids, instruments }: Base, services: Services, { health, closing }: Pick<Api, "health" | "closing">,
): Server {
  const common = { health, ids, ...instruments };
  if (!config.roles.has("api")) return createHttpServer(createHealthApp(common), common);
  const { maxBodyBytes, trustedProxies } = config;
  const memory = sharedMemory(instruments.clock);
  const { app, answerIngest } = createApp({
    ...common, services, memory, maxBodyBytes, trustedProxies, closing, pages: pagesOf(config), portal: config.portal,
  });
  return createHttpServer(app, common, { plain: { answerIngest, memory, maxBodyBytes } });
}
