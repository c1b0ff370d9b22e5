import { expect } from "chai";
import { Disabler } from "../../../../src/features/destinations/worker.ts";
import { dayMs } from "../../../../src/kernel/domain/time.ts";
import { createTenant, login, openIngest } from "../../../support/accounts.ts";
import { attemptEnded, tellCircuit } from "../../../support/circuits.ts";
import { ManualRelay, never } from "../../../support/manual-relay.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

const unheld = "0193a1b2-0000-7000-8000-00000000ffff";

describe("a destination with disableAfterDays", () => {
  let relay: ManualRelay;
  let tenant: Awaited<ReturnType<typeof createTenant>>;
  let disabler: Disabler;
  beforeEach(async () => {
    relay = await ManualRelay.open();
    tenant = await createTenant(relay.api.url);
    disabler = new Disabler({ ...relay.api.world, logger: quiet, metrics: uncounted });
  });
  afterEach(() => relay.close());

  const open = async (disableAfterDays: number | null) => {
    const { destinationId } = await openIngest(tenant.owner.client, tenant.tenantId);
    const path = `/api/v1/destinations/${destinationId}`;
    const call = async () => login(relay.api.url, tenant.owner.email);
    const set = async (fields: object) => expect((await (await call()).patch(path, fields)).status).to.equal(200);
    await set({ disableAfterDays });
    const end = (ok: boolean) =>
      tellCircuit(relay.api.world, { destinationId, tenantId: tenant.tenantId }, attemptEnded(unheld, ok, 10));
    const status = async () => (await (await call()).get(path)).json["status"];
    const last = async () => {
      const { items } = (await (await call()).get(`${path}/history?TpOrd=desc`)).json;
      return (items as readonly { type: string; data: object; actor: object; changes?: readonly object[] }[])[0];
    };
    return { set, end, status, last };
  };
  const run = async () => {
    await relay.drained();
    await disabler.run(never);
    await relay.drained();
  };

  it("becomes Inactive once its attempts only failed for so long, by the service", async () => {
    const [two, none] = [await open(2), await open(null)];
    for (const { end } of [two, none]) await end(false);
    relay.clock.advance(2 * dayMs - 60_000);
    await two.end(false);
    await run();
    expect(await two.status()).to.equal("Active");
    relay.clock.advance(60_000);
    await run();
    expect([await two.status(), await none.status()]).to.deep.equal(["Inactive", "Active"]);
    const last = await two.last();
    expect(last).to.deep.include({
      type: "DestinationDeactivated", changes: [{ field: "status", from: "Active", to: "Inactive" }],
    });
    expect([last?.data, last?.actor]).to.containSubset([{ reason: "failing" }, { type: "service", part: "sweeper" }]);
    await run();
    expect(await two.last()).to.deep.equal(last);
  });

  it("stays Active if an attempt succeeded in between, or none failed", async () => {
    const [mixed, idle] = [await open(1), await open(1)];
    await mixed.end(false);
    relay.clock.advance(dayMs / 2);
    await mixed.end(true);
    await mixed.end(false);
    relay.clock.advance(dayMs / 2);
    await run();
    expect([await mixed.status(), await idle.status()]).to.deep.equal(["Active", "Active"]);
  });

  it("is disabled by a setting that comes after its failures", async () => {
    const { set, end, status } = await open(null);
    await end(false);
    relay.clock.advance(3 * dayMs);
    await set({ disableAfterDays: 3 });
    await run();
    expect(await status()).to.equal("Inactive");
  });

  it("begins anew once a person activated it", async () => {
    const { set, end, status } = await open(1);
    await end(false);
    relay.clock.advance(dayMs);
    await run();
    await set({ status: "active" });
    relay.clock.advance(dayMs);
    await run();
    expect(await status()).to.equal("Active");
    await end(false);
    relay.clock.advance(dayMs - 60_000);
    await run();
    expect(await status()).to.equal("Active");
    relay.clock.advance(60_000);
    await run();
    expect(await status()).to.equal("Inactive");
  });
});
