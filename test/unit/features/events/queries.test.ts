import { expect } from "chai";
import { createTenant, openIngest } from "../../../support/accounts.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";

describe("a list of events", () => {
  let relay: ManualRelay;
  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  it("does not show an event that is purged meanwhile with the payload of a later event of its key", async () => {
    const { tenantId, owner: { client } } = await createTenant(relay.api.url);
    const target = await openIngest(client, tenantId);
    const accept = () => relay.accept(target, { "x-idempotency-key": "one" });
    await relay.deliveries.succeed(await accept());
    await relay.drained();
    const read = relay.store.readStream.bind(relay.store);
    relay.store.readStream = async (...asked) => {
      if (asked[1]?.beginsAt === undefined) return read(...asked);
      relay.store.readStream = read;
      expect((await client.post("/api/v1/events/purge", {})).status).to.equal(204);
      relay.clock.advance(1);
      await accept();
      return read(...asked);
    };
    expect((await client.get("/api/v1/events")).json).to.deep.equal({ total: 1, items: [], nextCursor: null });
  });
});
