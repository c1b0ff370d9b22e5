import { expect } from "chai";
import { Attempts } from "../../../../src/delivery/dispatch/attempts.ts";
import { Claims } from "../../../../src/delivery/dispatch/claims.ts";
import { DeliveryWorker } from "../../../../src/delivery/dispatch/delivery-worker.ts";
import { Sweeper } from "../../../../src/delivery/dispatch/sweeper.ts";
import type { DeliveryClient } from "../../../../src/delivery/requests/delivery-client.ts";
import { DueIndex } from "../../../../src/delivery/requests/due-index.ts";
import { Outcomes } from "../../../../src/delivery/requests/recording.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { FirstAttempts } from "../../../../src/features/ingest/first-attempts.ts";
import type { Clock } from "../../../../src/kernel/ports/clock.ts";
import type { WorkItem } from "../../../../src/kernel/ports/work-queue.ts";
import { createTenant, openIngest } from "../../../support/accounts.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { eventually } from "../../../support/relay.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

const dayMs = 86_400_000;

describe("sweeper", () => {
  let relay: ManualRelay;

  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  /** An event with a retry in a day, whose destination was deleted without a wake-up. */
  const leftWaiting = async () => {
    const { owner, tenantId } = await createTenant(relay.api.url);
    const { destinationId, ...target } = await openIngest(owner.client, tenantId);
    const eventId = await relay.accept(target);
    await relay.deliveries.fail(eventId, 10, dayMs);
    expect((await owner.client.delete(`/api/v1/destinations/${destinationId}`)).status).to.equal(204);
    await relay.drained();
    return { eventId, destinationId };
  };

  it("wakes a deleted destination with a waiting event", async () => {
    const { destinationId } = await leftWaiting();
    const woken: string[] = [];
    const publish = async (items: readonly WorkItem[]) => void woken.push(...items.map((item) => item.destinationId));
    const sweeper = new Sweeper({ dueIndex: new DueIndex(relay.models), queue: { publish }, clock: relay.clock });
    await sweeper.wakeForRetries();
    await sweeper.wakeForAnything();
    expect(woken).to.deep.equal([]);
    await sweeper.wakeDeleted();
    expect(woken).to.deep.equal([destinationId]);
  });

  it("makes a worker cancel waiting events though it missed the deletion", async () => {
    const { eventId } = await leftWaiting();
    const parts = {
      ...relay.api.world, logger: quiet, metrics: uncounted, workerId: "w1", deliveryTimeoutMs: 15_000,
      workers: { isGone: () => false, hold: () => () => undefined },
      outcomes: new Outcomes({ ...relay.api.world, retry: { scheduleMs: [dayMs], jitter: 0 } }),
    };
    const dueIndex = new DueIndex(relay.models);
    const attempts = new Attempts({ ...parts, client: {} as DeliveryClient });
    const queue = {
      publish: async (items: readonly WorkItem[]): Promise<void> => worker.take(items, { alive: true }),
      consume: async () => ({ stop: async () => undefined }),
    };
    const dispatcherParts = { ...parts, log: relay.store, dueIndex, claims: new Claims(parts), attempts };
    const worker: DeliveryWorker = new DeliveryWorker(queue, new FirstAttempts(), dispatcherParts);
    await new Sweeper({ dueIndex, queue, clock: relay.clock }).wakeDeleted();
    await eventually(async () => (await loadWebhook(relay.store, eventId)).state?.status,
      (status) => status === "Cancelled");
    await worker.stop(0);
  });

  describe("in time", () => {
    let asked: string[];
    let failing: boolean;
    let wall: number;
    let sweeper: Sweeper;
    beforeEach(() => {
      [asked, failing, wall] = [[], false, 100_000];
      const clock = { now: () => wall } as Clock;
      const dueIndex = {
        destinationsWithRetriesDue: async (from: number, to: number) => {
          asked.push(`retries ${from} to ${to}`);
          return new Set(["one"]);
        },
        circuitsDue: async (now: number) => {
          asked.push(`circuits ${now}`);
          return [];
        },
        destinationsWithWorkDue: async (until: number) => {
          asked.push(`work ${until}`);
          return new Set<string>();
        },
        deletedDestinations: async () => [],
      };
      const publish = async () => {
        if (failing) throw new Error("down");
      };
      sweeper = new Sweeper({ dueIndex, clock, queue: { publish } });
    });

    const retriesAfter = async (ms: number) => {
      wall += ms;
      asked.length = 0;
      await sweeper.wakeForRetries().catch(() => asked.push("failed"));
      return asked;
    };

    it("looks for retries that became due since the last look", async () => {
      expect(await retriesAfter(0)).to.deep.equal(["retries 99000 to 100000"]);
      expect(await retriesAfter(3_000)).to.deep.equal(["retries 99000 to 103000"]);
      expect(await retriesAfter(1)).to.deep.equal(["retries 102000 to 103001"]);
    });

    it("looks again for retries that it could not wake, and further back when the clock was set back", async () => {
      await retriesAfter(0);
      failing = true;
      expect(await retriesAfter(1_000)).to.deep.equal(["retries 99000 to 101000", "failed"]);
      failing = false;
      expect(await retriesAfter(1_000)).to.deep.equal(["retries 99000 to 102000"]);
      expect(await retriesAfter(-50_000)).to.deep.equal(["retries 51000 to 52000"]);
    });

    it("leaves first attempts a second to come through the queue", async () => {
      await sweeper.wakeForAnything();
      await sweeper.wakeForCircuits();
      expect(asked).to.deep.equal(["work 99000", "circuits 100000"]);
    });
  });
});
