import { expect } from "chai";
import { openAccount, openIngest, unique, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";

const order = { name: "order", path: "/order/id" };
const region = { name: "region", path: "/to/0" };

describeOnEngines("search fields of senders", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  before(async () => {
    api = await startApi(await freshEngines());
    one = await openAccount(api.url);
    mine = await openIngest(one.owner.client, one.tenantId);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const create = (fields: object = {}) => one.owner.client.post(
    "/api/v1/senders", { name: "shop", destinationUrlId: mine.destinationId, ...fields });
  const created = async (fields: object = {}) => {
    const answer = await create(fields);
    expect(answer.status, answer.text).to.equal(201);
    return answer.json as { id: string; ingestToken: string; searchFields: unknown; updatedAt: string };
  };
  const change = (id: string, fields: object) => one.owner.client.patch(`/api/v1/senders/${id}`, fields);
  const post = (ingestToken: string, body: string, own: Readonly<Record<string, string>> = {}) =>
    http("POST", `${api.url}/api/v1/ingest/${one.tenantId}/${ingestToken}`, {
      body, headers: { "content-type": "application/json", "x-api-key": mine.apiKey, ...own },
    });
  const tagsOf = async (ingestToken: string, body: string, own: Readonly<Record<string, string>> = {}) => {
    const answer = await post(ingestToken, body, own);
    expect(answer.status, answer.text).to.equal(202);
    return (await one.viewer.client.api.getEvent({ id: String(answer.json["eventId"]) })).tags;
  };

  it("are kept with the sender, and shown in its answers and history", async () => {
    const { id, searchFields } = await created({ searchFields: [{ ...order, more: 1 }, region] });
    expect(searchFields).to.deep.equal([order, region]);
    expect((await one.viewer.client.api.getSender({ id })).searchFields).to.deep.equal([order, region]);
    const { items } = await one.viewer.client.api.listSenders({ Qt: 100 });
    expect(items.find((sender) => sender.id === id)?.searchFields).to.deep.equal([order, region]);
    expect((await change(id, { searchFields: [region] })).json["searchFields"]).to.deep.equal([region]);
    const { updatedAt } = (await change(id, { searchFields: [region] })).json;
    expect((await change(id, { name: "shop" })).json).to.deep.include({ searchFields: [region], updatedAt });
    expect((await change(id, { searchFields: null })).json["searchFields"]).to.deep.equal([]);
    const history = await one.viewer.client.api.listSenderHistory({ id });
    expect(history.items.map(({ type, data }) => [type, (data as { searchFields?: unknown }).searchFields]))
      .to.deep.equal([
        ["SenderCreated", [order, region]], ["SenderSearchFieldsChanged", [region]], ["SenderSearchFieldsChanged", []],
      ]);
    const audited = await one.viewer.client.api.listAudit({ SubjectId: id, Type: "SenderSearchFieldsChanged" });
    expect(audited.items).to.have.length(2);
  });

  it("are empty unless some are named", async () => {
    for (const fields of [{}, { searchFields: null }, { searchFields: [] }]) {
      const { id, searchFields } = await created(fields);
      expect(searchFields).to.deep.equal([]);
      const { items: [fact] } = await one.viewer.client.api.listSenderHistory({ id });
      expect(fact?.data).to.not.have.property("searchFields");
    }
  });

  it("make tags of the body as received, also where a mapping makes another of it", async () => {
    const mapping = { language: "jmespath", expression: "{n: order.id}" };
    for (const more of [{}, { mapping }]) {
      const { ingestToken } = await created({ searchFields: [order, region], ...more });
      const body = '{"order":{"id":12345678901234567890},"to":["eu","us"]}';
      expect(await tagsOf(ingestToken, body)).to.deep.equal({ order: "12345678901234567890", region: "eu" });
    }
    const { total } = await one.viewer.client.api.listEvents({ Tag: ["order:12345678901234567890", "region:eu"] });
    expect(total).to.be.at.least(2);
  });

  it("skip values that do not fit, and give way to a tag of the header", async () => {
    const { id, ingestToken } = await created({ searchFields: [order, region] });
    expect(await tagsOf(ingestToken, '{"order":{"id":{}},"to":"eu"}')).to.equal(null);
    expect(await tagsOf(ingestToken, '{"order":{"id":"a,b"},"to":["eu"]}')).to.deep.equal({ region: "eu" });
    const own = { "x-tags": "order=mine,more=1" };
    expect(await tagsOf(ingestToken, '{"order":{"id":7},"to":["eu"]}', own))
      .to.deep.equal({ order: "mine", more: "1", region: "eu" });
    expect(await tagsOf(ingestToken, "{}", own)).to.deep.equal({ order: "mine", more: "1" });
    await change(id, { searchFields: [] });
    expect(await tagsOf(ingestToken, '{"order":{"id":7}}')).to.equal(null);
  });

  it("change nothing of an event that a repeated post finds", async () => {
    const { id, ingestToken } = await created({ searchFields: [order] });
    const key = { "x-idempotency-key": unique("tagged") };
    expect((await post(ingestToken, '{"order":{"id":7}}', key)).status).to.equal(202);
    await change(id, { searchFields: [region] });
    const again = await post(ingestToken, '{"to":["eu"]}', key);
    expect([again.status, again.json["tags"]]).to.deep.equal([200, { order: "7" }]);
  });

  it("give 400 where they are not valid, and name the field", async () => {
    const bad: readonly (readonly [fields: unknown, named: string])[] = [
      ["/a", "searchFields"], [{}, "searchFields"], [["/a"], "searchFields.0"],
      [[{ name: "a" }], "searchFields.0.path"],
      [[{ path: "/a" }], "searchFields.0.name"], [[{ name: 1, path: "/a" }], "searchFields.0.name"],
      [[{ name: "A", path: "/a" }], "searchFields.0.name"], [[{ name: "", path: "/a" }], "searchFields.0.name"],
      [[{ name: "a", path: "a" }], "searchFields.0.path"], [[order, { ...order, path: "/b" }], "searchFields.1.name"],
      [[{ name: "a", path: `/${"p".repeat(255)}` }], "searchFields.0.path"],
      [Array.from({ length: 6 }, (_, n) => ({ name: `n${n}`, path: "/a" })), "searchFields"],
    ];
    const { id } = await created();
    for (const [searchFields, named] of bad) {
      for (const answer of [await create({ searchFields }), await change(id, { searchFields })]) {
        expect([answer.status, answer.text.split(":")[0]], JSON.stringify(searchFields)).to.deep.equal([400, named]);
      }
    }
    const path = `/${"p".repeat(254)}`;
    const most = Array.from({ length: 5 }, (_, n) => ({ name: `n${n}`.padEnd(32, "_"), path }));
    expect((await change(id, { searchFields: most })).status).to.equal(200);
  });
});
