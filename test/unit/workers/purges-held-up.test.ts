import { expect } from "chai";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { http } from "../../support/http.ts";
import { ManualRelay } from "../../support/manual-relay.ts";

describe("a purge that is held up", () => {
  let relay: ManualRelay;
  let tenant: Awaited<ReturnType<typeof createTenant>>;

  /** One event has finished. */
  beforeEach(async () => {
    relay = await ManualRelay.open();
    tenant = await createTenant(relay.api.url);
    const { path, apiKey } = await openIngest(tenant.owner.client, tenant.tenantId);
    const answer = await http("POST", relay.api.url + path, { json: {}, headers: { "x-api-key": apiKey } });
    await relay.deliveries.succeed(String(answer.json["eventId"]));
  });
  afterEach(() => relay.close());

  const purge = () => tenant.owner.client.post("/api/v1/events/purge", {});

  it("is waited for by a runner that stops, which writes nothing of it afterwards", async () => {
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const amend = relay.models.amend.bind(relay.models);
    relay.models.amend = async (changes) => {
      begun.resolve();
      await held.promise;
      await amend(changes);
    };
    await purge();
    await begun.promise;
    let isStopped = false;
    const stopped = relay.stopRunner().then(() => { isStopped = true; });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStopped).to.equal(false);
    held.resolve();
    await stopped;
    relay.startRunner();
    expect((await tenant.owner.client.get("/api/v1/events")).json).to.deep.equal({ total: 0, items: [] });
  });

  it("goes on where the newest entry of an event cannot be read", async () => {
    const read = relay.store.readStream.bind(relay.store);
    relay.store.readStream = async (stream, options) => {
      const entries = await read(stream, options);
      if (!options?.backwards || !stream.startsWith("event-")) return entries;
      return entries.map(({ revision, position, id, type }) =>
        ({ stream, revision, position, id, type, unreadable: "spoiled" }));
    };
    await purge();
    await relay.settle();
    expect([relay.store.deleted, relay.store.wronged]).to.deep.equal([1, []]);
  });
});
