import type { RetryPolicy } from "../../src/features/events/decide.ts";
import { CredentialLookup } from "../../src/features/ingest/credential-lookup.ts";
import { FirstAttempts } from "../../src/features/ingest/first-attempts.ts";
import { KeyRotation } from "../../src/features/key-rotation/key-rotation.ts";
import { EmailOpener } from "../../src/features/people/persons/email-opener.ts";
import { serveAll, createServices, type Services } from "../../src/features/services.ts";
import { openRegistration } from "../../src/features/tenants/registration-guards.ts";
import { Aggregates } from "../../src/kernel/log/aggregates.ts";
import type { Logger } from "../../src/kernel/ports/telemetry.ts";
import { Freshness } from "../../src/kernel/read-models/freshness.ts";
import { Vault } from "../../src/kernel/sealing/vault.ts";
import { LogTail } from "../../src/kernel/workers/log-tail.ts";
import type { Role } from "../../src/kernel/workers/loop.ts";
import { deliveryRoles, projectingRole } from "../../src/main/roles.ts";
import { ProjectionRunner } from "../../src/projector/projection-runner.ts";
import { uncounted as metrics } from "../support/telemetry.ts";
import type { SimulatedLog } from "./event-store.ts";
import type { SimulatedExpiringState } from "./expiring-state.ts";
import { SimulatedProcess } from "./process.ts";
import type { SimulatedQueue } from "./queue.ts";
import type { SimulatedReadModels } from "./read-models.ts";
import type { Receivers } from "./receivers.ts";
import { mappings, passwords, sealing, tokens } from "./stand-ins.ts";
import type { Trace } from "./trace.ts";

/** The engines that all processes share. */
export interface Engines {
  readonly log: SimulatedLog;
  readonly readModels: SimulatedReadModels;
  readonly state: SimulatedExpiringState;
  readonly queue: SimulatedQueue;
  readonly receivers: Receivers;
}

export interface NodeSettings {
  readonly retry: RetryPolicy;
  readonly deliveryTimeoutMs: number;
  /** The batch delay of projections, ms. */
  readonly batchDelayMs: number;
  /** Whether there may be other processes. */
  readonly several: boolean;
}

/** The size of caches: small, so that evicted items have to be loaded again. */
const kept = 10;
const allRoles = new Set(["api", "forwarder", "delivery", "projector", "sweeper"] as const);

/** The whole relay in one simulated process, composed as in the program, but without the HTTP of the API. */
export class Node {
  readonly process: SimulatedProcess;
  readonly services: Services;
  ready = false;
  readonly #runner: ProjectionRunner;
  readonly #follower: LogTail;
  readonly #roles: readonly Role[];

  constructor(process: SimulatedProcess, engines: Engines, settings: NodeSettings, trace: Trace) {
    const { clock, ids } = process;
    const store = engines.log.client(process);
    const readModels = engines.readModels.client(process);
    const state = engines.state.client(process);
    const outbound = engines.receivers.client(process);
    const logger = tracing(process.name, trace);
    const vault = new Vault(sealing);
    const aggregates = new Aggregates(store, { clock, ids }, { max: kept });
    serveAll(aggregates);
    const freshness = new Freshness(store, readModels, clock);
    const follower = () => this.#follower;
    const following = {
      get fresh() {
        return !settings.several || follower().fresh;
      },
      renewed: () => follower().renewed(),
    };
    const sources = { store, aggregates, readModels, freshness, clock, following };
    const credentials = new CredentialLookup(sources, { max: kept });
    const firstAttempts = new FirstAttempts();
    const services = createServices(
      {
        store, readModels, state, sealing, passwords, tokens, mappings, outbound, clock, ids, logger, metrics,
        aggregates, credentials, freshness, vault, firstAttempts, guards: openRegistration,
      },
      {
        accessTokenTtlMs: 3_600_000,
        limits: { loginFailures: null, tenantCreation: null, inviteRegistration: null },
        peopleInMemory: kept,
        failedLoginMs: 0,
        portal: { publicUrl: () => "", brand: { name: null, color: null, logo: false } },
      },
    );
    const emails = new EmailOpener({ store, sealing, vault }, { max: kept });
    const runner = new ProjectionRunner({
      log: store, readModels, clock, logger, metrics, batchDelayMs: settings.batchDelayMs,
      prepare: (entries) => emails.prepare(entries), leavesOrphans: engines.log.keepsDeleted,
    });
    const shared = { log: settings.several, readModels: settings.several, queue: settings.several };
    const single = { state, shared, owner: process.name, clock, logger, metrics };
    const projector = {
      follow: async () => runner.start(),
      pause: () => runner.stop(),
      rebuild: () => runner.rebuild(),
    };
    this.process = process;
    this.services = services;
    this.#runner = runner;
    this.#follower = new LogTail({
      log: store, clock, logger, metrics, categories: aggregates.categories,
      handle: (entries) => {
        aggregates.follow(entries);
        credentials.follow(entries);
      },
    });
    this.#roles = [
      projectingRole({ ...single, projector }),
      ...deliveryRoles({
        ...single, store, readModels, queue: engines.queue.client(process), outbound, ids, aggregates, freshness, vault,
        firstAttempts, reach: this.#follower,
        rotation: new KeyRotation({ store, sealing, readModels, aggregates, clock, ids }),
        purge: services.commands.purge, replaying: services.replaying, forgetting: services.forgetting,
        keys: services.keys, retry: settings.retry, deliveryTimeoutMs: settings.deliveryTimeoutMs,
      }, allRoles),
    ];
  }

  /** Rejects when an engine does not answer; then the fleet ends the process, and starts another. */
  async start(): Promise<void> {
    await this.#follower.start();
    for (const role of this.#roles) await role.start();
    this.ready = true;
  }

  /** Stops gracefully. */
  async stop(patienceMs: number): Promise<void> {
    this.ready = false;
    const [projecting, ...delivering] = this.#roles;
    await Promise.all(delivering.map((role) => role.stop(patienceMs)));
    await Promise.all([projecting?.stop(patienceMs), this.#follower.stop()]);
  }

  /** A reader waits for the read models to reach a position. */
  flush(position: string): void {
    this.process.hear(() => this.#runner.flush(position));
  }
}

const nothing = () => undefined;

function tracing(name: string, trace: Trace): Logger {
  const line = (level: string) => (fields: object, message: string) => {
    const { err } = fields as { readonly err?: unknown };
    trace.add(`${name} ${level}: ${message}${err instanceof Error ? ` (${String(err)})` : ""}`);
  };
  return { debug: nothing, info: nothing, warn: line("warns"), error: line("errors") };
}
