import { expect } from "chai";
import type { DeliveryClient } from "../../../src/application/delivery/delivery-client.ts";
import { DueIndex } from "../../../src/application/delivery/due-index.ts";
import { FirstAttempts } from "../../../src/application/delivery/first-attempts.ts";
import { Outcomes } from "../../../src/application/delivery/recording.ts";
import { loadWebhook } from "../../../src/application/events/webhooks.ts";
import type { Clock } from "../../../src/ports/clock/clock.ts";
import type { WorkItem } from "../../../src/ports/work-queue.ts";
import { Attempts } from "../../../src/workers/delivery/attempts.ts";
import { Claims } from "../../../src/workers/delivery/claims.ts";
import { DeliveryWorker } from "../../../src/workers/delivery/delivery-worker.ts";
import { Sweeper } from "../../../src/workers/sweeper.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { ManualRelay } from "../../support/manual-relay.ts";
import { eventually } from "../../support/relay.ts";
import { quiet, uncounted } from "../../support/telemetry.ts";

const dayMs = 86_400_000;

describe("sweeper", () => {
  let relay: ManualRelay;

  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  /** An event that waits for a retry which is a day away, and whose destination was deleted without a wake-up. */
  const leftWaiting = async () => {
    const { owner, tenantId } = await createTenant(relay.api.url);
    const { destinationId, ...target } = await openIngest(owner.client, tenantId);
    const eventId = await relay.accept(target);
    await relay.deliveries.fail(eventId, 10, dayMs);
    expect((await owner.client.delete(`/api/v1/destinations/${destinationId}`)).status).to.equal(204);
    await relay.drained();
    return { eventId, destinationId };
  };

  it("wakes a deleted destination of which an event waits, when it starts and every minute", async () => {
    const { destinationId } = await leftWaiting();
    const woken: string[] = [];
    const publish = async (items: readonly WorkItem[]) => void woken.push(...items.map((item) => item.destinationId));
    const clock = new ManualClock();
    const sweeper = new Sweeper({ dueIndex: new DueIndex(relay.models), queue: { publish }, clock });
    await sweeper.sweep();
    expect(woken).to.deep.equal([destinationId]);
    clock.advance(59_999);
    await sweeper.sweep();
    expect(woken).to.have.length(1);
    clock.advance(1);
    await sweeper.sweep();
    expect(woken).to.deep.equal([destinationId, destinationId]);
  });

  it("has a worker that knows nothing of the deletion cancel what waits", async () => {
    const { eventId } = await leftWaiting();
    const parts = {
      ...relay.api.world, logger: quiet, metrics: uncounted, workerId: "w1", deliveryTimeoutMs: 15_000,
      outcomes: new Outcomes({ ...relay.api.world, retry: { scheduleMs: [dayMs], jitter: 0 } }),
    };
    const dueIndex = new DueIndex(relay.models);
    const attempts = new Attempts({ ...parts, client: {} as DeliveryClient });
    const queue = {
      publish: async (items: readonly WorkItem[]): Promise<void> => worker.take(items, { alive: true }),
      consume: async () => ({ stop: async () => undefined }),
    };
    const laneParts = { ...parts, log: relay.store, dueIndex, claims: new Claims(parts), attempts };
    const worker: DeliveryWorker = new DeliveryWorker(queue, new FirstAttempts(), laneParts);
    await new Sweeper({ dueIndex, queue, clock: relay.clock }).sweep();
    await eventually(async () => (await loadWebhook(relay.store, eventId)).state?.status,
      (status) => status === "Cancelled");
    await worker.stop(0);
  });

  describe("in time", () => {
    let asked: string[];
    let failing: boolean;
    let wall: { now: number; monotonic: number };
    let sweeper: Sweeper;
    beforeEach(() => {
      [asked, failing, wall] = [[], false, { now: 100_000, monotonic: 0 }];
      const clock = { now: () => wall.now, monotonic: () => wall.monotonic } as Clock;
      const dueIndex = {
        destinationsWithRetriesDue: async (from: number, to: number) => {
          asked.push(`retries ${from} to ${to}`);
          return new Set<string>();
        },
        circuitsDue: async (now: number) => {
          asked.push(`circuits ${now}`);
          if (failing) throw new Error("down");
          return [];
        },
        destinationsWithWorkDue: async (before: number) => {
          asked.push(`work ${before}`);
          return new Set<string>();
        },
        deletedDestinations: async () => [],
      } as Partial<DueIndex> as DueIndex;
      sweeper = new Sweeper({ dueIndex, clock, queue: { publish: async () => expect.fail("nothing is due") } });
    });

    const sweptAfter = async (ms: number, setBackMs = 0) => {
      wall.now += ms - setBackMs;
      wall.monotonic += ms;
      asked.length = 0;
      await sweeper.sweep().catch(() => asked.push("failed"));
      return asked;
    };

    it("looks at everything at first and every 3 s, and each time at what became due since the last", async () => {
      expect(await sweptAfter(0)).to.deep.equal(["retries 99000 to 100000", "circuits 100000", "work 99000"]);
      expect(await sweptAfter(2_999)).to.deep.equal(["retries 99000 to 102999", "circuits 102999"]);
      expect(await sweptAfter(1)).to.deep.equal(["retries 101999 to 103000", "circuits 103000", "work 102000"]);
    });

    it("looks again at what a sweep that failed was to look at, and back where the clock was set back", async () => {
      await sweptAfter(0);
      failing = true;
      expect(await sweptAfter(1_000)).to.deep.equal(["retries 99000 to 101000", "circuits 101000", "failed"]);
      failing = false;
      expect(await sweptAfter(1_000)).to.deep.equal(["retries 99000 to 102000", "circuits 102000"]);
      expect(await sweptAfter(0, 50_000)).to.deep.equal(["retries 51000 to 52000", "circuits 52000"]);
    });
  });
});
