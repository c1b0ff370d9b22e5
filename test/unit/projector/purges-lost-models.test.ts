import { expect } from "chai";
import { logStart } from "../../../src/kernel/ports/event-store.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { ManualRelay } from "../../support/manual-relay.ts";

describe("a purge", () => {
  let relay: ManualRelay;

  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  it("does not count in read models that were lost after they had caught up", async () => {
    const { owner, tenantId } = await createTenant(relay.api.url);
    await relay.deliveries.succeed(await relay.accept(await openIngest(owner.client, tenantId)));
    const purge = async () => (await owner.client.post("/api/v1/events/purge", {})).status;
    const checkpoint = relay.models.checkpoint.bind(relay.models);
    relay.models.checkpoint = async () => logStart;
    expect(await purge()).to.equal(503);
    relay.models.checkpoint = checkpoint;
    expect(await purge()).to.equal(204);
    expect((await owner.client.get("/api/v1/events")).json).to.include({ total: 0 });
  });
});
