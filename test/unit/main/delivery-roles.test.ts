import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { EmbeddedQueue } from "../../../packages/embedded-engine/src/index.ts";
import { FirstAttempts } from "../../../src/features/ingest/first-attempts.ts";
import { logStart } from "../../../src/kernel/ports/event-store.ts";
import type { QueueSession, WorkConsumer, WorkItem } from "../../../src/kernel/ports/work-queue.ts";
import { Leadership } from "../../../src/kernel/workers/leadership.ts";
import { processRoles, type ProcessRole } from "../../../src/main/config/config.ts";
import { deliveryRoles, type DeliveryParts } from "../../../src/main/roles.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { quiet, uncounted } from "../../support/telemetry.ts";

describe("the roles of delivery", () => {
  /** The names of single roles; the class names of roles that every process runs. */
  const rolesOf = (shared: DeliveryParts["shared"], ...roles: readonly ProcessRole[]) => {
    const ids = { uuid: () => "one" };
    const parts = { shared, owner: "one", clock: new ManualClock(), logger: quiet, metrics: uncounted, ids };
    return deliveryRoles(parts as unknown as DeliveryParts, new Set(roles))
      .map((role) => (role instanceof Leadership ? role.name : role.constructor.name));
  };
  const allShared = { log: true, readModels: true, queue: true };

  it("run apart where processes share the queue", () => {
    expect(rolesOf(allShared, ...processRoles)).to.deep.equal(["DeliveryWorker", "sweeper", "forwarder"]);
    expect(rolesOf(allShared, "delivery")).to.deep.equal(["DeliveryWorker"]);
    expect(rolesOf(allShared, "sweeper")).to.deep.equal(["sweeper"]);
    expect(rolesOf(allShared, "forwarder")).to.deep.equal(["forwarder"]);
    expect(rolesOf(allShared, "api", "projector")).to.deep.equal([]);
  });

  it("run together in one process where the queue is embedded: it reaches no other process", () => {
    const ownQueue = { ...allShared, queue: false };
    expect(rolesOf(ownQueue, ...processRoles)).to.deep.equal(["delivery"]);
    expect(rolesOf(ownQueue, "api")).to.deep.equal([]);
  });

  it("end the worker's queue session without waiting for the forwarder's checkpoint", async () => {
    const stored = Promise.withResolvers<void>();
    const queue = new EmbeddedQueue();
    let session: QueueSession | undefined;
    const parts = {
      shared: { log: false, readModels: false, queue: false }, owner: "one", clock: new ManualClock(), logger: quiet,
      metrics: uncounted, ids: { uuid: () => "one" }, firstAttempts: new FirstAttempts(),
      state: { get: async () => [null], put: async () => undefined },
      store: { head: async () => logStart, subscribe: () => ({ stop: () => stored.promise }) },
      queue: {
        publish: (items: readonly WorkItem[]) => queue.publish(items),
        consume: (consumer: WorkConsumer) => queue.consume({
          take: (items, current) => consumer.take(items, current),
          reassign: (isLost, current) => {
            session = current;
            consumer.reassign(isLost, current);
          },
        }),
      },
    };
    const [role] = deliveryRoles(parts as unknown as DeliveryParts, new Set(["delivery"]));
    await role?.start();
    const stopping = role?.stop(0);
    await turn();
    expect(session).to.include({ alive: false });
    stored.resolve();
    await stopping;
  });
});
