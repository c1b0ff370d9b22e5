import { expect } from "chai";
import { deliveryRoles, type DeliveryParts } from "../../../src/composition/delivery.ts";
import { processRoles, type ProcessRole } from "../../../src/config/config.ts";
import { Leadership } from "../../../src/workers/leadership.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { quiet, uncounted } from "../../support/telemetry.ts";

describe("the roles of delivery", () => {
  /** The names of those that run in one process at a time; that of its class for one that runs in each. */
  const rolesOf = (shared: DeliveryParts["shared"], ...roles: readonly ProcessRole[]) => {
    const ids = { uuid: () => "one" };
    const parts = { shared, owner: "one", clock: new ManualClock(), logger: quiet, metrics: uncounted, ids };
    return deliveryRoles(parts as unknown as DeliveryParts, new Set(roles))
      .map((role) => (role instanceof Leadership ? role.name : role.constructor.name));
  };
  const allShared = { log: true, readModels: true, queue: true };

  it("are a process's own where all share the queue", () => {
    expect(rolesOf(allShared, ...processRoles)).to.deep.equal(["DeliveryWorker", "sweeper", "forwarder"]);
    expect(rolesOf(allShared, "delivery")).to.deep.equal(["DeliveryWorker"]);
    expect(rolesOf(allShared, "sweeper")).to.deep.equal(["sweeper"]);
    expect(rolesOf(allShared, "forwarder")).to.deep.equal(["forwarder"]);
    expect(rolesOf(allShared, "api", "projector")).to.deep.equal([]);
  });

  it("go together where the queue is the process's own: none would hear what another process queues", () => {
    const ownQueue = { ...allShared, queue: false };
    expect(rolesOf(ownQueue, ...processRoles)).to.deep.equal(["delivery"]);
    expect(rolesOf(ownQueue, "api")).to.deep.equal([]);
  });
});
