import { readFileSync } from "node:fs";
import { AesSealing } from "../adapters/aes-sealing/aes-sealing.ts";
import { BcryptPasswords } from "../adapters/bcrypt/bcrypt-passwords.ts";
import { JmespathMappings } from "../adapters/jmespath/jmespath-mappings.ts";
import { JwtTokens } from "../adapters/jose/jwt-tokens.ts";
import { createOutboundClient } from "../adapters/outbound/client.ts";
import { PrometheusMetrics } from "../adapters/prometheus/prometheus-metrics.ts";
import { SystemClock } from "../adapters/system/system-clock.ts";
import { SystemIds } from "../adapters/system/system-ids.ts";
import { Erasure } from "../application/accounts/erasure.ts";
import { Reservations } from "../application/accounts/reservations.ts";
import { serveAll } from "../application/aggregate-types.ts";
import { Aggregates } from "../application/aggregates.ts";
import { FirstAttempts } from "../application/delivery/first-attempts.ts";
import { Freshness } from "../application/freshness.ts";
import { KeyRotation } from "../application/keys/key-rotation.ts";
import { PlatformKeys } from "../application/keys/platform-keys.ts";
import { Vault } from "../application/keys/vault.ts";
import { createServices } from "../application/services.ts";
import type { Config } from "../config/config.ts";
import type { Secrets } from "../config/secrets.ts";
import { createApp } from "../http/app.ts";
import { createHealthApp } from "../http/health-app.ts";
import { createHttpServer } from "../http/server.ts";
import type { Clock } from "../ports/clock/clock.ts";
import { within } from "../ports/clock/within.ts";
import type { Ids } from "../ports/ids.ts";
import type { Logger } from "../ports/telemetry.ts";
import { Presence } from "../workers/presence.ts";
import type { Role } from "../workers/role.ts";
import { deliveryRoles } from "./delivery.ts";
import { EngineWatch } from "./engine-watch.ts";
import { openEngines, type Engines } from "./engines/engines.ts";
import { followLog } from "./follow-log.ts";
import { Listener } from "./listener.ts";
import { requireMasterKeys, startingMasterKeyOf } from "./master-key.ts";
import { readModelsBuilt } from "./read-models-built.ts";
import { neededBy, readiness } from "./readiness.ts";
import { readingsOf } from "./readings.ts";
import { registrationGuards } from "./registration-guards.ts";
import { projectingRole } from "./roles.ts";
import { version } from "./version.ts";

/** A running relay. */
export interface Relay {
  /** Where the API listens, `http://host:port`. */
  readonly url: string;
  /** Finishes and records what is under way; done by the shutdown timeout. */
  stop(): Promise<void>;
}

/** What a relay, or an operator's command, is started with. */
export interface RelaySettings {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly logger: Logger;
  /** Called when an engine of this process's own has failed for good: only a new process can go on. */
  readonly onFatal?: (error: Error) => void;
}

/** How many of each kind of thing are kept in memory, whatever their number in the log. */
const keptInMemory = 50_000;
/** The share of the shutdown timeout that requests and attempts under way may take; the rest is for the engines. */
const drainShare = 0.8;

/**
 * Starts everything in order: the engines, what follows the log, the roles, and last the API, which answers only when
 * all the rest is up. Rejects with an error that says what is wrong.
 */
export async function startRelay(
  { config, secrets, logger, onFatal = () => undefined }: RelaySettings,
): Promise<Relay> {
  const clock = new SystemClock();
  const ids = new SystemIds();
  const metrics = new PrometheusMetrics(version, clock);
  const instruments = { clock, logger, metrics };
  const owner = ids.uuid();
  const masterKey = await startingMasterKeyOf(config, secrets, logger);
  const sealing = new AesSealing(masterKey, secrets.oldMasterKeys);
  const projects = config.roles.has("projector");
  const engines = await openEngines({ config, secrets, masterKey, projects, ...instruments, onFatal });
  const { store, readModels, state, queue, shared } = engines;
  const watch = new EngineWatch(engines.watched, instruments);
  const needed = neededBy(config.roles, engines.watched);
  await watch.start(needed);
  const presence = new Presence({ state, ...instruments });
  if (shared.readModels) await presence.start();

  const aggregates = new Aggregates(store, { clock, ids }, { max: keptInMemory });
  serveAll(aggregates);
  const rotation = new KeyRotation({ store, sealing, readModels, aggregates, clock, ids });
  await requireMasterKeys(rotation, new PlatformKeys({ store, sealing, clock, ids }));
  await finishErasure(engines, { aggregates, clock, ids, logger });
  const freshness = new Freshness(store, readModels, clock);
  const followed = await followLog(engines, { aggregates, freshness, ...instruments }, { max: keptInMemory });
  const { directory, following } = followed;

  const { extraCaFile, deliveryTimeoutMs } = config.outbound;
  const extraCa = extraCaFile === null ? null : readFileSync(extraCaFile, "utf8");
  const outbound = createOutboundClient({ ...config.outbound, extraCa });
  const passwords = new BcryptPasswords(config.passwordCost);
  const mappings = new JmespathMappings(instruments, config.maxBodyBytes);
  const vault = new Vault(sealing);
  const guards = registrationGuards(config, secrets, { outbound, state, ...instruments });
  const firstAttempts = new FirstAttempts();
  const services = createServices(
    {
      store, readModels, state, sealing, passwords, outbound, ids, ...instruments, aggregates, directory, freshness,
      vault, mappings, guards, firstAttempts, tokens: new JwtTokens(),
    },
    { accessTokenTtlMs: config.accessTokenTtlMs, limits: config.limits, peopleInMemory: keptInMemory },
  );
  const singleParts = { state, shared, owner, ...instruments };
  const projecting = engines.projector && projectingRole({ ...singleParts, projector: engines.projector });
  const delivering = deliveryRoles({
    ...singleParts, store, readModels, queue, outbound, ids, aggregates, vault, rotation, deliveryTimeoutMs,
    firstAttempts, purge: services.commands.purge, forgetting: services.forgetting, retry: config.retry,
  }, config.roles);
  const roles: readonly Role[] = [...(projecting ? [projecting] : []), ...delivering];
  await projecting?.start();
  await readModelsBuilt({ readModels, clock, logger });
  for (const role of delivering) await role.start();
  metrics.watch(readingsOf({ log: store, readModels, clock, sealing, engines, watch, roles }));

  const health = { ready: () => readiness({ needed, watch, following }), metrics: () => metrics.text() };
  const { maxBodyBytes, trustedProxies } = config;
  const common = { health, ids, ...instruments };
  const api = config.roles.has("api") ? createApp({ ...common, services, maxBodyBytes, trustedProxies }) : null;
  const server = api
    ? createHttpServer(api.app, ids, { plain: { answerIngest: api.answerIngest, clock, maxBodyBytes } })
    : createHttpServer(createHealthApp(common), ids);
  const listener = new Listener(server);

  const stop = async () => {
    const endAt = clock.monotonic() + config.shutdownTimeoutMs;
    const left = () => Math.max(0, endAt - clock.monotonic());
    const patience = left() * drainShare;
    await Promise.all([listener.close(patience), ...delivering.map((role) => role.stop(patience))]);
    await Promise.all([projecting?.stop(left() / 2), followed.stop(), watch.stop(), presence.stop()]);
    // An attempt or a password that is still under way was waited for long enough.
    await within(clock, left() / 2, Promise.all([outbound.close(), passwords.close()]));
    mappings.close();
    await within(clock, left(), engines.close());
  };
  let url: string;
  try {
    url = await listener.listen(config.host, config.port);
  } catch (error) {
    await stop();
    throw error;
  }
  logger.info({ url, version, dataDir: config.dataDir, roles: [...config.roles] }, "ready");

  return {
    url,
    async stop() {
      await stop();
      logger.info({}, "stopped");
    },
  };
}

/** With all engines embedded, finishes an erasure that a kill interrupted. */
async function finishErasure(
  { projector, shared, store, state }: Engines,
  { logger, ...parts }: {
    readonly aggregates: Aggregates; readonly clock: Clock; readonly ids: Ids; readonly logger: Logger;
  },
): Promise<void> {
  if (!projector || shared.log || shared.readModels) return;
  const erasing = { ...parts, store, state, reservations: new Reservations({ ...parts, store }) };
  const resumed = await new Erasure(erasing, () => projector.rebuild()).resume();
  if (resumed !== null) logger.warn({ tenantId: resumed }, "finished erasing a tenant");
}
