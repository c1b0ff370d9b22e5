import { leases } from "../../projections/due/due.ts";
import { Attempts } from "../delivery/dispatch/attempts.ts";
import { Claims } from "../delivery/dispatch/claims.ts";
import { DeliveryWorker } from "../delivery/dispatch/delivery-worker.ts";
import { Forwarder } from "../delivery/dispatch/forwarder.ts";
import { LostAttempts } from "../delivery/dispatch/lost-attempts.ts";
import { Notifier } from "../delivery/dispatch/notifier.ts";
import { Sweeper } from "../delivery/dispatch/sweeper.ts";
import { Workers } from "../delivery/dispatch/workers.ts";
import { DeliveryClient } from "../delivery/requests/delivery-client.ts";
import { DueIndex } from "../delivery/requests/due-index.ts";
import { Outcomes } from "../delivery/requests/recording.ts";
import { userAgent } from "../delivery/requests/request.ts";
import { TokenCache } from "../delivery/requests/token-cache.ts";
import { CertificateExpiry } from "../features/destinations/certificates/worker.ts";
import { Disabler } from "../features/destinations/worker.ts";
import type { RetryPolicy } from "../features/events/decide.ts";
import { Expirer } from "../features/events/worker.ts";
import type { FirstAttempts } from "../features/ingest/first-attempts.ts";
import type { KeyRotation } from "../features/key-rotation/key-rotation.ts";
import { KeyRotator } from "../features/key-rotation/worker.ts";
import type { Forgetting } from "../features/people/persons/forgetting.ts";
import { Forgetter } from "../features/people/persons/worker.ts";
import type { PurgeCommands } from "../features/purges/commands.ts";
import { Retention } from "../features/purges/retention.ts";
import { Purger } from "../features/purges/worker.ts";
import type { Replaying } from "../features/replays/replay-run.ts";
import { Replayer } from "../features/replays/worker.ts";
import { SecretExpiry } from "../features/secrets/worker.ts";
import type { Aggregates } from "../kernel/log/aggregates.ts";
import { sleep, type Clock } from "../kernel/ports/clock.ts";
import type { EventStore } from "../kernel/ports/event-store.ts";
import type { ExpiringState } from "../kernel/ports/expiring-state.ts";
import type { Ids } from "../kernel/ports/ids.ts";
import type { OutboundClient } from "../kernel/ports/outbound.ts";
import { ReadModelsUnavailable, type ReadModels } from "../kernel/ports/read-models.ts";
import type { Logger, Metrics } from "../kernel/ports/telemetry.ts";
import type { WorkQueue } from "../kernel/ports/work-queue.ts";
import type { Freshness } from "../kernel/read-models/freshness.ts";
import type { PlatformKeys } from "../kernel/sealing/platform-keys.ts";
import type { Vault } from "../kernel/sealing/vault.ts";
import { Leadership, type LeadershipParts } from "../kernel/workers/leadership.ts";
import type { Reach } from "../kernel/workers/log-tail.ts";
import { repeating, type Role } from "../kernel/workers/loop.ts";
import { version, type ProcessRole } from "./config/config.ts";
import type { Engines } from "./engines/engines.ts";
import type { Projector } from "./engines/projector.ts";

/** Roles that run in one process at a time; the names of their leases. */
export const singleRoles = ["projector", "forwarder", "sweeper", "delivery"] as const;
/** The name of a lease, and the label of `relay_role_active`. */
export type SingleRole = (typeof singleRoles)[number];

/** The dependencies of a single role. */
export interface SingleParts extends LeadershipParts {
  readonly shared: Engines["shared"];
  readonly owner: string;
}

/** The dependencies of delivery and its housekeeping. */
export interface DeliveryParts extends SingleParts {
  readonly state: ExpiringState;
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly queue: WorkQueue;
  readonly outbound: OutboundClient;
  readonly firstAttempts: FirstAttempts;
  readonly reach: Reach;
  readonly aggregates: Aggregates;
  readonly freshness: Freshness;
  readonly vault: Vault;
  readonly purge: PurgeCommands;
  readonly replaying: Replaying;
  readonly forgetting: Forgetting;
  readonly rotation: KeyRotation;
  readonly keys: PlatformKeys;
  readonly ids: Ids;
  readonly metrics: Metrics;
  readonly retry: RetryPolicy;
  readonly deliveryTimeoutMs: number;
}

/** The register of workers outlives the runs of single roles. */
type WithWorkers = DeliveryParts & { readonly workers: Workers };

/** The most OAuth tokens in memory. */
const grantsKept = 10_000;
const lookEveryMs = 50;
const readModelsPatienceMs = 30_000;

/** Runs a role behind a lease. With embedded read models no other process can exist: the role runs at once. */
export function single(name: SingleRole, parts: SingleParts, begin: () => Role): Role {
  return parts.shared.readModels ? new Leadership(parts, { name, owner: parts.owner }, begin) : begin();
}

/** The role that projects the log. */
export function projectingRole(parts: SingleParts & { readonly projector: Projector }): Role {
  const { projector } = parts;
  return single("projector", parts, () => ({ start: () => projector.follow(), stop: () => projector.pause() }));
}

/** The roles of this process that deliver. With an embedded queue they are one: wake-ups must reach their worker. */
export function deliveryRoles(settings: DeliveryParts, roles: ReadonlySet<ProcessRole>): Role[] {
  const parts = { ...settings, workers: new Workers({ ...settings, isLogShared: settings.shared.log }) };
  if (!parts.shared.queue) return roles.has("delivery") ? [single("delivery", parts, () => wholeDelivery(parts))] : [];
  return [
    ...(roles.has("delivery") ? [deliveryWorker(parts)] : []),
    ...(roles.has("sweeper") ? [single("sweeper", parts, () => sweeperRole(parts))] : []),
    ...(roles.has("forwarder") ? [single("forwarder", parts, () => forwarder(parts))] : []),
  ];
}

function wholeDelivery(parts: WithWorkers): Role {
  const [worker, sweeping, forwarding] = [deliveryWorker(parts), sweeperRole(parts), forwarder(parts)];
  return {
    start: async () => {
      await worker.start();
      await sweeping.start();
      await forwarding.start();
    },
    stop: async (patienceMs) => {
      // The forwarder stops first: no worker takes its entries any more. The others do not wait for its checkpoint.
      await Promise.all([forwarding.stop(patienceMs), sweeping.stop(patienceMs), worker.stop(patienceMs)]);
    },
  };
}

function deliveryWorker(parts: WithWorkers): Role {
  const { store, outbound, clock, deliveryTimeoutMs, queue, workers } = parts;
  // A new id for each run: attempts that an earlier run left under way count as another worker's.
  const workerId = workers.begin();
  const agent = userAgent(version);
  const dueIndex = new DueIndex(parts.readModels);
  const tokens = new TokenCache({
    outbound, clock, userAgent: agent, deadlineMs: deliveryTimeoutMs, capacity: grantsKept,
  });
  const client = new DeliveryClient({ ...parts, tokens, userAgent: agent });
  const claims = new Claims({ ...parts, workerId });
  const attempts = new Attempts({ ...parts, outcomes: new Outcomes(parts), client, workerId });
  const dispatcherParts = { ...parts, log: store, dueIndex, claims, attempts, workerId };
  return new DeliveryWorker(queue, parts.firstAttempts, dispatcherParts);
}

function forwarder(parts: DeliveryParts): Role {
  return new Forwarder({ ...parts, log: parts.store, notifier: new Notifier(parts) });
}

function sweeperRole(parts: WithWorkers): Role {
  const dueIndex = new DueIndex(parts.readModels);
  const sweeper = new Sweeper({ ...parts, dueIndex });
  const lost = new LostAttempts({ ...parts, dueIndex, outcomes: new Outcomes(parts) });
  const purger = new Purger(parts);
  const replayer = new Replayer(parts);
  const retention = new Retention(parts);
  const forgetter = new Forgetter(parts);
  const secretExpiry = new SecretExpiry(parts);
  const certificateExpiry = new CertificateExpiry(parts);
  const expirer = new Expirer(parts);
  const disabler = new Disabler(parts);
  // Separate loops: a failing task must not delay the others.
  const members: readonly Role[] = [
    repeating(parts, { name: "sweeper", everyMs: 200 }, () => sweeper.wakeForRetries()),
    repeating(parts, { name: "sweeper", everyMs: 200 }, () => sweeper.wakeForCircuits()),
    repeating(parts, { name: "sweeper", everyMs: 3_000, firstMs: 200 }, () => sweeper.wakeForAnything()),
    repeating(parts, { name: "sweeper", everyMs: 60_000, firstMs: 200 }, () => sweeper.wakeDeleted()),
    repeating(parts, { name: "sweeper", everyMs: 1_000, firstMs: 200 }, () => lost.giveUp()),
    repeating(parts, { name: "sweeper", everyMs: 1_000, firstMs: 200 }, (isOver) => secretExpiry.run(isOver)),
    repeating(parts, { name: "sweeper", everyMs: 60_000, firstMs: 500 }, (isOver) => certificateExpiry.run(isOver)),
    repeating(parts, { name: "cleaner", everyMs: 500 }, (isOver) => purger.run(isOver)),
    repeating(parts, { name: "replayer", everyMs: 200 }, (isOver) => replayer.run(isOver)),
    repeating(parts, { name: "retention", everyMs: 60_000, firstMs: 500 }, (isOver) => retention.run(isOver)),
    repeating(parts, { name: "sweeper", everyMs: 60_000, firstMs: 500 }, (isOver) => expirer.run(isOver)),
    repeating(parts, { name: "sweeper", everyMs: 60_000, firstMs: 500 }, (isOver) => disabler.run(isOver)),
    repeating(parts, { name: "forgetter", everyMs: 1_000, firstMs: 0 }, (isOver) => forgetter.run(isOver)),
    new KeyRotator(parts),
  ];
  return {
    start: () => {
      for (const member of members) void member.start();
    },
    stop: async (patienceMs) => {
      await Promise.all(members.map((member) => member.stop(patienceMs)));
    },
  };
}

/** Waits at most half a minute until a projector has made the collections of a new engine. */
export async function readModelsBuilt(
  { readModels, clock, logger }: { readonly readModels: ReadModels; readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  const end = clock.monotonic() + readModelsPatienceMs;
  for (let waits = false; clock.monotonic() < end; await sleep(clock, lookEveryMs)) {
    try {
      await readModels.find({ collection: leases.name, order: { field: leases.key, descending: false }, limit: 1 });
      return;
    } catch (error) {
      if (!(error instanceof ReadModelsUnavailable)) throw error;
      if (!waits) logger.info({}, "waiting until a projector has made the read models");
      waits = true;
    }
  }
}
