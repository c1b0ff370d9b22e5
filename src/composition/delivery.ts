import { DueIndex } from "../application/delivery/due-index.ts";
import { Outcomes } from "../application/delivery/outcomes.ts";
import { userAgent } from "../application/delivery/request.ts";
import { Sender } from "../application/delivery/sender.ts";
import { createTokenCache } from "../application/delivery/token-cache.ts";
import type { Aggregates } from "../application/aggregates.ts";
import type { PurgeCommands } from "../application/commands/purge.ts";
import type { Vault } from "../application/vault.ts";
import type { RetryPolicy } from "../domain/event/retry-policy.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventStore } from "../ports/event-store.ts";
import type { ExpiringState } from "../ports/expiring-state.ts";
import type { Ids } from "../ports/ids.ts";
import type { OutboundClient } from "../ports/outbound.ts";
import type { ReadModels } from "../ports/read-models.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
import type { WorkQueue } from "../ports/work-queue.ts";
import { Cleaner } from "../workers/cleaner.ts";
import { Attempts } from "../workers/delivery/attempts.ts";
import { DeliveryWorker } from "../workers/delivery/delivery-worker.ts";
import { Forwarder } from "../workers/forwarder.ts";
import { Purger } from "../workers/purger.ts";
import { Retention } from "../workers/retention.ts";
import { Sweeper } from "../workers/sweeper.ts";
import { version } from "./version.ts";

export interface DeliveryParts {
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly state: ExpiringState;
  readonly queue: WorkQueue;
  readonly outbound: OutboundClient;
  readonly aggregates: Aggregates;
  readonly vault: Vault;
  readonly purge: PurgeCommands;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly retry: RetryPolicy;
  readonly deliveryTimeoutMs: number;
}

const grantsKept = 10_000;

/** Starts the way from the log to the receivers: forwarder, delivery worker, sweeper; and what clears up after it. */
export async function startDelivery(parts: DeliveryParts): Promise<{ stop(patienceMs: number): Promise<void> }> {
  const { store, outbound, clock, deliveryTimeoutMs, queue } = parts;
  const workerId = parts.ids.uuid();
  const agent = userAgent(version);
  const dueIndex = new DueIndex(parts.readModels);
  const outcomes = new Outcomes(parts);
  const tokens = createTokenCache({
    outbound, clock, userAgent: agent, deadlineMs: deliveryTimeoutMs, capacity: grantsKept,
  });
  const sender = new Sender({ ...parts, tokens, userAgent: agent });
  const attempts = new Attempts({ ...parts, outcomes, sender, workerId });
  const worker = new DeliveryWorker(queue, { ...parts, log: store, dueIndex, outcomes, attempts, workerId });
  const forwarder = new Forwarder({ ...parts, log: store });
  const sweeper = new Sweeper({ ...parts, dueIndex, outcomes });
  const cleaner = new Cleaner({ ...parts, purger: new Purger(parts), retention: new Retention(parts), workerId });
  await worker.start();
  await forwarder.start();
  sweeper.start();
  cleaner.start();
  return {
    async stop(patienceMs) {
      // First of all, so that it does not count as forwarded what no worker takes any more.
      await forwarder.stop();
      await Promise.all([sweeper.stop(), cleaner.stop(), worker.stop(patienceMs)]);
    },
  };
}
