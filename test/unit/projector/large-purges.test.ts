import { expect } from "chai";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { ManualRelay } from "../../support/manual-relay.ts";

describe("a purge of more events than one batch", () => {
  let relay: ManualRelay;

  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  it("leaves nothing of the events in the read models", async () => {
    const { owner, tenantId } = await createTenant(relay.api.url);
    const target = await openIngest(owner.client, tenantId);
    await Promise.all(Array.from({ length: 501 }, async () => relay.deliveries.succeed(await relay.accept(target))));
    expect((await owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
    const { models } = relay;
    const amend = models.amend.bind(models);
    const left: string[] = [];
    models.amend = async (changes) => {
      await amend(changes);
      const count = (collection: string) => models.count({ collection });
      left.push(`${await count("purging")} of ${await count("purges")}`);
    };
    await relay.settle();
    // No event without its purge: after a crash no process would look for it.
    expect(left.slice(-2)).to.deep.equal(["1 of 1", "0 of 0"]);
    expect(relay.store.deleted).to.equal(501);
    expect(await relay.models.count({ collection: "purging" })).to.equal(0);
  });
});
