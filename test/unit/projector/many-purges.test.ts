import { expect } from "chai";
import type { Document, Query } from "../../../src/kernel/ports/read-models.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { ManualRelay } from "../../support/manual-relay.ts";

/** Counts the documents that it returns. */
class CountingReadModels extends InMemoryReadModels {
  given = 0;

  override async find(query: Query): Promise<readonly Document[]> {
    const found = await super.find(query);
    this.given += found.length;
    return found;
  }
}

describe("read models rebuilt from a log with many purges", () => {
  let relay: ManualRelay;

  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  it("read no more documents for each purge than with few purges", async () => {
    const { owner, tenantId } = await createTenant(relay.api.url);
    const target = await openIngest(owner.client, tenantId);
    const purgeSome = async () => {
      for (let purges = 0; purges < 10; purges += 1) {
        await relay.deliveries.succeed(await relay.accept(target));
        expect((await owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
        await relay.settle();
      }
    };
    const given = async () => {
      const models = new CountingReadModels();
      const runner = relay.newRunner(models);
      await runner.rebuild();
      await runner.stop();
      return models.given;
    };
    await purgeSome();
    const few = await given();
    for (let more = 0; more < 3; more += 1) await purgeSome();
    expect(await given()).to.be.at.most(5 * few);
  });
});
