import { expect } from "chai";
import { Purger } from "../../../src/workers/purger.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { ManualRelay, never } from "../../support/manual-relay.ts";
import { eventually } from "../../support/relay.ts";
import { quiet } from "../../support/telemetry.ts";

describe("purger", () => {
  let relay: ManualRelay;

  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  it("rests as long as its deletions took", async () => {
    const { api, clock, models, store } = relay;
    const { tenantId, owner } = await createTenant(api.url);
    await relay.deliveries.succeed(await relay.accept(await openIngest(owner.client, tenantId)));
    expect((await owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
    await eventually(() => models.count({ collection: "purges", where: { hiding: false } }), (count) => count === 1);
    let monotonic = 0;
    store.beforeDelete = async () => void (monotonic += 70);
    const rests: number[] = [];
    const pausing = {
      now: () => clock.now(),
      monotonic: () => monotonic,
      schedule: (ms: number, task: () => void) => {
        rests.push(ms);
        return clock.schedule(0, task);
      },
    };
    await new Purger({ ...api.world, clock: pausing, logger: quiet }).run(never);
    expect([store.deleted, rests]).to.deep.equal([1, [70]]);
  });
});
