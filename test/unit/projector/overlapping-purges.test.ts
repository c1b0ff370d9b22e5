import { expect } from "chai";
import { purges, decide, noPurges } from "../../../src/features/purges/facts.ts";
import { timestamp } from "../../../src/kernel/domain/time.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { ManualRelay } from "../../support/manual-relay.ts";
import { eventually } from "../../support/relay.ts";

describe("two purges that take the same event", () => {
  let relay: ManualRelay;

  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  it("leave its deletion to the first, also in read models rebuilt after the second has completed", async () => {
    const { api, clock, deliveries, models } = relay;
    const { tenantId, owner } = await createTenant(api.url);
    await deliveries.succeed(await relay.accept(await openIngest(owner.client, tenantId)));
    for (let n = 0; n < 2; n += 1) expect((await owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
    await eventually(() => models.count({ collection: "purges", where: { hiding: false } }), (count) => count === 2);
    const origin = { actor: { type: "service", part: "test" }, correlationId: "test", causationId: null } as const;
    await api.world.aggregates.change(purges, tenantId, origin, (state = noPurges) => {
      const purgeId = state.underWay[1]?.id ?? expect.fail();
      return decide(state, { type: "CompletePurge", tenantId, purgeId, at: timestamp(clock.now()) });
    });
    await relay.drained();
    await relay.forgotten();
    expect(await models.count({ collection: "purging" })).to.equal(1);
    expect(await relay.rebuilt()).to.deep.equal(models.contents());
  });

  it("each let the event be accepted again under the same id, also in rebuilt read models", async () => {
    const { api, clock, deliveries, models } = relay;
    const { tenantId, owner } = await createTenant(api.url);
    const target = await openIngest(owner.client, tenantId);
    const accept = () => relay.accept(target, { "x-idempotency-key": "one" });
    const now = clock.now();
    clock.now = () => now;
    const ids = [await accept()];
    for (let n = 0; n < 2; n += 1) {
      await deliveries.succeed(ids[n] ?? expect.fail());
      expect((await owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
      ids.push(await accept());
    }
    expect(new Set(ids).size).to.equal(1);
    await eventually(() => models.count({ collection: "purges", where: { hiding: false } }), (count) => count === 2);
    const { json } = await owner.client.get("/api/v1/events");
    expect(json).to.deep.include({ total: 1 }).and.nested.include({ "items[0].status": "Pending" });
    expect(await relay.rebuilt()).to.deep.equal(models.contents());
  });
});
