import { expect } from "chai";
import { Claims } from "../../../../src/delivery/dispatch/claims.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { Expirer } from "../../../../src/features/events/worker.ts";
import { dayMs } from "../../../../src/kernel/domain/time.ts";
import { createTenant, login, openIngest } from "../../../support/accounts.ts";
import { ManualRelay, never } from "../../../support/manual-relay.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

describe("events of a destination that lets them expire", () => {
  let relay: ManualRelay;
  let tenant: Awaited<ReturnType<typeof createTenant>>;
  let expirer: Expirer;
  beforeEach(async () => {
    relay = await ManualRelay.open();
    tenant = await createTenant(relay.api.url);
    expirer = new Expirer({ ...relay.api.world, logger: quiet, metrics: uncounted });
  });
  afterEach(() => relay.close());

  const open = async (expireAfterDays: number | null) => {
    const target = await openIngest(tenant.owner.client, tenant.tenantId);
    const path = `/api/v1/destinations/${target.destinationId}`;
    const set = async (fields: object) => {
      const client = await login(relay.api.url, tenant.owner.email);
      expect((await client.patch(path, fields)).status).to.equal(200);
    };
    await set({ expireAfterDays });
    return { set, accept: () => relay.accept(target) };
  };
  const run = async () => {
    await relay.drained();
    await expirer.run(never);
  };
  const statuses = async (...ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await loadWebhook(relay.store, id)).state?.status));

  it("are cancelled once they waited so long, Pending or for a retry, and no others", async () => {
    const [short, long, none] = [await open(1), await open(30), await open(null)];
    const [pending, failed, sent, done] =
      [await short.accept(), await short.accept(), await short.accept(), await short.accept()];
    const others = [await long.accept(), await none.accept()];
    await relay.deliveries.fail(failed, 10, 30 * dayMs);
    await relay.deliveries.start(sent);
    await relay.deliveries.succeed(done);
    relay.clock.advance(dayMs - 3_600_000);
    await run();
    expect(await statuses(pending, failed)).to.deep.equal(["Pending", "WaitingRetry"]);
    const young = await short.accept();
    relay.clock.advance(3_600_000);
    await run();
    expect(await statuses(pending, failed, sent, done, young)).to.deep.equal(
      ["Cancelled", "Cancelled", "Processing", "Succeeded", "Pending"],
    );
    expect(await statuses(...others)).to.deep.equal(["Pending", "Pending"]);
    const last = (await loadWebhook(relay.store, pending)).facts.at(-1);
    expect(last?.data).to.include({ from: "Pending", to: "Cancelled", reason: "expired" });
    expect(last?.metadata.actor).to.deep.equal({ type: "service", part: "expiry" });
  });

  it("are cancelled while the destination is Inactive, and once it lets them expire", async () => {
    const { set, accept } = await open(null);
    const id = await accept();
    await set({ status: "inactive" });
    relay.clock.advance(3 * dayMs);
    await run();
    expect(await statuses(id)).to.deep.equal(["Pending"]);
    await set({ expireAfterDays: 3 });
    await run();
    expect(await statuses(id)).to.deep.equal(["Cancelled"]);
  });

  it("wait anew after a replay, and are read once until that is old, too", async () => {
    const { accept } = await open(2);
    const id = await accept();
    await relay.deliveries.fail(id, 1);
    relay.clock.advance(3 * dayMs);
    await relay.deliveries.replay(id);
    await relay.deliveries.fail(id, 10, 30 * dayMs);
    await run();
    let reads = 0;
    relay.store.beforeStreamRead = () => {
      reads += 1;
    };
    await run();
    expect(reads).to.equal(0);
    expect(await statuses(id)).to.deep.equal(["WaitingRetry"]);
    relay.clock.advance(2 * dayMs);
    await run();
    expect(await statuses(id)).to.deep.equal(["Cancelled"]);
  });

  it("are cancelled by a claim that comes first", async () => {
    const { accept } = await open(1);
    const [old, young] = [await accept(), await accept()];
    await relay.deliveries.fail(young, 1);
    relay.clock.advance(dayMs);
    await relay.deliveries.replay(young);
    const parts = { ...relay.api.world, logger: quiet, metrics: uncounted, workerId: "w1", deliveryTimeoutMs: 15_000 };
    const claims = new Claims(parts);
    for (const eventId of [old, young]) await claims.claim({ kind: "due", eventId }, false, () => true);
    expect(await statuses(old, young)).to.deep.equal(["Cancelled", "Processing"]);
  });
});
