import { expect } from "chai";
import { openAccount, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { shaped } from "../support/http.ts";

const path = "/api/v1/notification-subscriptions";
const types = ["destination.suspended", "event.exhausted"];

describeOnEngines("notification subscriptions", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let destinationUrlId: string;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    destinationUrlId = (await one.owner.client.api.createDestination({ url: "https://receiver.example/told" })).id;
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const listed = async ({ owner }: Account) =>
    shaped(await owner.client.get(`${path}?Qt=100`), "notification-subscription-page");

  it("are made, listed and deleted, and the audit says by whom", async () => {
    const { client } = one.developer;
    const made = await client.post(path, { destinationUrlId: destinationUrlId.toUpperCase(), types });
    expect(made.status, made.text).to.equal(201);
    const subscription = shaped(made, "notification-subscription");
    expect(subscription).to.deep.include({ tenantId: one.tenantId, destinationUrlId, types });
    expect(await listed(one)).to.deep.include({ items: [subscription], total: 1 });
    expect(await listed(other)).to.deep.include({ items: [], total: 0 });

    const own = `${path}/${String(subscription["id"])}`;
    expect((await client.delete(own)).status).to.equal(204);
    expect((await client.delete(own)).status).to.equal(404);
    expect(await listed(one)).to.deep.include({ items: [], total: 0 });
    const { items } = await one.owner.client.api.listAudit({ SubjectId: String(subscription["id"]) });
    expect(items.map(({ type, subject }) => [type, subject?.id])).to.deep.equal([
      ["NotificationsUnsubscribed", subscription["id"]], ["NotificationsSubscribed", subscription["id"]],
    ]);
  });

  it("name a field that is wrong", async () => {
    const wrong = [
      [{ types }, "destinationUrlId"], [{ destinationUrlId }, "types"], [{ destinationUrlId, types: [] }, "types"],
      [{ destinationUrlId, types: ["destination.deleted"] }, "types"],
      [{ destinationUrlId, types: [types[0], types[0]] }, "types"],
      [{ destinationUrlId: "x", types }, "destinationUrlId"],
    ] as const;
    for (const [body, field] of wrong) {
      const { status, text } = await one.owner.client.post(path, body);
      expect([status, text], JSON.stringify(body)).to.satisfy(() => status === 400 && text.includes(`${field}`));
    }
  });
});
