import { expect } from "chai";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { unique, type Account } from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { twoTenantStage } from "../support/api-stage.ts";
import { EventStream } from "../support/event-stream.ts";
import { shaped, type HttpAnswer } from "../support/http.ts";

const path = "/api/v1/subscriptions";
const nowhere = "00000000-0000-7000-8000-000000000000";
const url = "https://receiver.example/hook";
const jmespath = (expression: string) => ({ language: "jmespath", expression });

interface Routing {
  readonly matched: readonly Readonly<Record<string, unknown>>[];
  readonly skipped: readonly { readonly subscriptionId: string; readonly reason: string }[];
}

describeOnEngines("subscriptions", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  twoTenantStage(freshEngines, (stage) => ({ engines, api, one, other } = stage));

  const newDestination = async ({ owner }: Account = one) => (await owner.client.api.createDestination({ url })).id;
  const newSender = async (fields: object = {}, { owner }: Account = one) =>
    (await owner.client.api.createSender({ name: "Billing", fanOut: true, ...fields })).id;
  const create = async (fields: object, by = one.developer.client) => by.post(path, fields);
  const created = async (fields: object = {}) => {
    const answer = await create({ senderId: await newSender(), destinationUrlId: await newDestination(), ...fields });
    expect(answer.status, answer.text).to.equal(201);
    return shaped(answer, "subscription") as Readonly<Record<string, unknown>> & { readonly id: string };
  };
  const listed = async (query = "", { viewer }: Account = one) =>
    shaped(await viewer.client.get(`${path}?Qt=100${query}`), "subscription-page") as
      { readonly items: readonly { readonly id: string }[]; readonly total: number };
  const get = (id: string, query = "") => one.viewer.client.get(`${path}/${id}${query}`);
  const test = async (fields: object, by = one.viewer.client) => {
    const answer = await by.post(`${path}/test`, { payload: {}, ...fields });
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "routing") as unknown as Routing;
  };
  const problem = ({ status, text }: HttpAnswer) => [status, text];

  it("are created with defaults, and shown by id, in lists and by their filters", async () => {
    const [senderId, destinationUrlId] = [await newSender(), await newDestination()];
    const ownerId = unique("customer");
    const plain = await created({ senderId: senderId.toUpperCase(), destinationUrlId: destinationUrlId.toUpperCase() });
    const { id: _, createdAt, updatedAt, ...rest } = plain;
    expect(rest).to.deep.equal({
      tenantId: one.tenantId, senderId, destinationUrlId, ownerId: null, eventTypes: null, filter: null, mapping: null,
      status: "Active",
    });
    expect(createdAt).to.equal(updatedAt);
    const settings = {
      ownerId, eventTypes: ["invoice.paid", "refund.*"], filter: { data: { n: { $gte: 1.5 } }, $or: [{ type: "x" }] },
      mapping: jmespath("{id: id}"),
    };
    const owned = await created({ senderId, destinationUrlId, ...settings });
    expect(owned).to.deep.include(settings);
    for (const made of [plain, owned]) expect((await get(made.id)).json).to.deep.equal(made);
    const whole = await listed();
    expect(whole.items).to.deep.include.members([plain, owned]);
    expect(whole.items).to.have.length(whole.total);
    for (const [query, found] of [
      [`&SenderId=${senderId.toUpperCase()}`, [plain.id, owned.id]], [`&OwnerId=${ownerId}`, [owned.id]],
      [`&DestinationUrlId=${destinationUrlId}`, [plain.id, owned.id]], [`&SenderId=${nowhere}`, []],
      [`&SenderId=${senderId}&OwnerId=${ownerId}`, [owned.id]],
    ] as const) {
      const { items, total } = await listed(query);
      expect(items.map((item) => item.id), query).to.have.members([...found]);
      expect(total).to.equal(found.length);
      expect((await listed(query, other)).total).to.equal(0);
    }
  });
  it("are changed and deleted, and their histories and the audit say what changed, and by whom", async () => {
    const { id, ...before } = await created({ eventTypes: ["a"], ownerId: "acme" });
    const neighbour = await created({ senderId: before["senderId"], ownerId: "acme" });
    engines.clock.advance(1_000);
    const { client } = one.developer;
    const change = { eventTypes: null, filter: { type: "b" }, status: "Inactive" };
    const changed = await client.patch(`${path}/${id}`, { ...change, ownerId: "other", senderId: nowhere });
    expect(changed.status, changed.text).to.equal(200);
    expect(shaped(changed, "subscription"))
      .to.deep.equal({ ...before, id, ...change, updatedAt: changed.json["updatedAt"] });
    expect(String(changed.json["updatedAt"]) > String(before["updatedAt"])).to.equal(true);
    expect((await get(id)).text).to.equal(changed.text);
    expect((await listed()).items).to.deep.include(changed.json);
    expect((await client.patch(`${path}/${id}`, change)).json).to.deep.equal(changed.json);
    expect((await client.delete(`${path}/${id}`)).status).to.equal(204);
    for (const gone of [
      await get(id), await client.patch(`${path}/${id}`, {}), await client.delete(`${path}/${id}`),
      await one.viewer.client.delete(`${path}/${id}`), await other.owner.client.get(`${path}/${id}`),
    ]) {
      expect(problem(gone)).to.deep.equal([404, "subscription not found"]);
    }
    expect((await listed()).items.map((item) => item.id)).to.include(neighbour.id).and.not.include(id);

    const types = ["SubscriptionCreated", "SubscriptionChanged", "SubscriptionDeactivated", "SubscriptionDeleted"];
    const changes = [
      ["destinationId", "eventTypes", "ownerId", "senderId", "status"],
      ["eventTypes", "filter"], ["status"], ["status"],
    ];
    const fields = (item: { readonly changes?: readonly { readonly field: string }[] | null }) =>
      item.changes?.map(({ field }) => field).sort();
    const history = await one.viewer.client.api.listSubscriptionHistory({ id, TpOrd: "Asc" });
    expect(history.items.map(({ type }) => type)).to.deep.equal(types);
    expect(history.items.map(fields)).to.deep.equal(changes);
    expect(history.items[1]?.changes).to.deep.equal([
      { field: "eventTypes", from: ["a"], to: null }, { field: "filter", from: null, to: { type: "b" } },
    ]);
    expect(history.items.map(({ actor }) => "id" in actor && actor.id)).to.include(one.developer.id);
    const narrow = await one.viewer.client.api.listSubscriptionHistory({ id, Type: "SubscriptionDeleted" });
    expect(narrow.total).to.equal(1);
    const audit = await one.viewer.client.api.listAudit({ SubjectId: id, TpOrd: "Asc" });
    expect(audit.items.map(({ type }) => type)).to.deep.equal(types);
    expect(audit.items.map(fields)).to.deep.equal(changes);
    expect(audit.items[0]?.subject).to.deep.equal({ type: "subscription", id, name: null });
    const theirs = await one.viewer.client.api.listAudit({ SubjectId: neighbour.id });
    expect(theirs.items[0]?.subject).to.deep.equal({ type: "subscription", id: neighbour.id, name: "acme" });
  });

  it("are shown as they were at a moment", async () => {
    const { id } = await created({ eventTypes: ["a"] });
    const first = (await get(id)).json;
    engines.clock.advance(20_000);
    const moment = { time: timestamp(engines.clock.now()), position: await engines.store.head() };
    engines.clock.advance(70_000);
    const { client } = one.owner;
    await client.patch(`${path}/${id}`, { eventTypes: null });
    await client.delete(`${path}/${id}`);
    for (const asOf of Object.values(moment)) {
      const answer = await get(id, `?AsOf=${encodeURIComponent(asOf)}`);
      expect(shaped(answer, "subscription")).to.deep.equal({ ...first, asOf: moment });
    }
    const early = await get(id, "?AsOf=2020-01-01");
    expect(early.status, early.text).to.be.oneOf([400, 404]);
    expect((await get(id, "?AsOf=x")).status).to.equal(400);
  });

  it("are refused with the name of the field that is wrong", async () => {
    const [senderId, destinationUrlId] = [await newSender(), await newDestination()];
    const wrong: readonly (readonly [object, string])[] = [
      [{ senderId: undefined }, "senderId: is required"],
      [{ destinationUrlId: "x" }, "destinationUrlId: "],
      [{ ownerId: "" }, "ownerId: "],
      [{ ownerId: "x".repeat(256) }, "ownerId: "],
      [{ ownerId: "a\nb" }, "ownerId: "],
      [{ ownerId: "\ud800" }, "ownerId: must be well-formed Unicode"],
      [{ eventTypes: [] }, "eventTypes: "],
      [{ eventTypes: Array.from({ length: 51 }, (_, at) => `a${at}`) }, "eventTypes: "],
      [{ eventTypes: ["a", "a"] }, "eventTypes: "],
      [{ eventTypes: ["a", "*"] }, "eventTypes.1: must be an event type, as invoice.paid, or a family of types"],
      [{ filter: [] }, "filter: "],
      [{ filter: { amount: 1 } }, "filter.amount: must be type, ownerId, tags or data"],
      [{ filter: { data: { a: { $gt: null } } } }, "filter.data.a.$gt: must be a string or a number"],
      [{ mapping: jmespath("#") }, "mapping.expression: is not a JMESPath expression"],
      [{ mapping: { language: "lua", expression: "x" } }, "mapping.language: must be one of jmespath"],
    ];
    const { id } = await created({ senderId, destinationUrlId });
    for (const [fields, text] of wrong) {
      const answer = await create({ senderId, destinationUrlId: await newDestination(), ...fields });
      expect(answer.status, JSON.stringify(fields)).to.equal(400);
      expect(answer.text).to.include(text);
      const [name = ""] = Object.keys(fields);
      if (!["eventTypes", "filter", "mapping"].includes(name)) continue;
      expect((await one.developer.client.patch(`${path}/${id}`, fields)).text).to.include(text);
    }
    const odd = await one.developer.client.patch(`${path}/${id}`, { status: "suspended" });
    expect(problem(odd)).to.deep.equal([400, "status: must be one of active, inactive"]);
  });

  it("need a sender that fans out and a destination, both of the tenant, and are one for each owner", async () => {
    const [senderId, destinationUrlId] = [await newSender(), await newDestination()];
    const direct = await one.owner.client.api.createSender({ name: "Shop", destinationUrlId });
    const [theirSender, theirDestination] = [await newSender({}, other), await newDestination(other)];
    const gone = await newDestination();
    await one.owner.client.api.deleteDestination({ id: gone });
    const base = { senderId, destinationUrlId };
    for (const [fields, status, text] of [
      [{ senderId: nowhere }, 404, "senderId: sender not found"],
      [{ destinationUrlId: nowhere }, 404, "destinationUrlId: destination not found"],
      [{ destinationUrlId: gone }, 404, "destinationUrlId: destination not found"],
      [{ senderId: theirSender }, 403, "the sender belongs to another tenant"],
      [{ destinationUrlId: theirDestination }, 403, "the destination belongs to another tenant"],
      [{ senderId: direct.id }, 422, "the sender does not fan out"],
    ] as const) {
      expect(problem(await create({ ...base, ...fields }))).to.deep.equal([status, text]);
    }
    for (const ownerId of [null, "acme", "Acme"]) {
      await created({ ...base, ownerId });
      expect(problem(await create({ ...base, ownerId })))
        .to.deep.equal([409, "the destination has a subscription to this sender for this owner"]);
    }
    const racing = await Promise.all(Array.from({ length: 5 }, () => create({ ...base, ownerId: "racing" })));
    expect(racing.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409, 409, 409]);
  });

  it("are 50 for an owner and 50 without one, for a sender", async () => {
    const senderId = await newSender();
    const destinations = await Promise.all(Array.from({ length: 51 }, () => newDestination()));
    for (const [ownerId, whose] of [["acme", "of this owner"], [null, "without an owner"]] as const) {
      const answers = await Promise.all(destinations.slice(0, 50).map((destinationUrlId) =>
        create({ senderId, destinationUrlId, ownerId })));
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([201]));
      const more = await create({ senderId, destinationUrlId: destinations[50], ownerId });
      expect(problem(more)).to.deep
        .equal([422, `the sender has 50 subscriptions ${whose}, which is the most; delete one`]);
    }
    expect((await listed(`&SenderId=${senderId}&Total=true`)).total).to.equal(100);
  });

  it("tell which of them would get a message, with the payloads, and why the others would not", async () => {
    const senderId = await newSender({
      mapping: jmespath("{amount: sum, id: id}"), eventTypePath: "/kind",
      searchFields: [{ name: "region", path: "/zone" }],
    });
    const [first, second] = [await newDestination(), await newDestination()];
    const ours = await created({
      senderId, destinationUrlId: first, ownerId: "acme", mapping: jmespath("{total: amount}"),
    });
    const all = await created({ senderId, destinationUrlId: first });
    const typed = await created({ senderId, destinationUrlId: second, eventTypes: ["invoice.*"] });
    const filtered = await created({
      senderId, destinationUrlId: await newDestination(),
      filter: { data: { amount: { $gt: 100 } }, tags: { region: "eu" } },
    });
    const broken = await created({ senderId, destinationUrlId: await newDestination(), mapping: jmespath("[id]") });
    const payload = '{"kind":"invoice.paid","sum":100.50,"id":12345678901234567890,"zone":"eu"}';
    const { viewer: { client } } = one;
    const answer = await client.post(`${path}/test`, { senderId, ownerId: "acme", payload });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).to.include('"payload":{"total":100.5}').and.include('"id":12345678901234567890');
    const { matched, skipped } = shaped(answer, "routing") as unknown as Routing;
    expect(matched.map(({ subscriptionId, destinationUrlId, problem: why }) => [subscriptionId, destinationUrlId, why]))
      .to.deep.equal([
        [ours.id, first, null], [typed.id, second, null], [filtered.id, filtered["destinationUrlId"], null],
        [broken.id, broken["destinationUrlId"], "yields an array, not an object"],
      ]);
    expect(matched[3]?.["payload"]).to.equal(null);
    expect(skipped).to.deep.equal([{ subscriptionId: all.id, reason: "already reached" }]);

    await one.developer.client.patch(`${path}/${broken.id}`, { status: "inactive" });
    const bare = await test({ senderId, payload: { sum: 1 }, eventType: "Invoice.paid", tags: { region: "uk" } });
    expect(bare.matched.map(({ subscriptionId }) => subscriptionId)).to.deep.equal([all.id]);
    expect(bare.skipped).to.deep.equal([
      { subscriptionId: typed.id, reason: "event type" }, { subscriptionId: filtered.id, reason: "filter" },
      { subscriptionId: broken.id, reason: "inactive" },
    ]);
    expect(await test({ senderId: await newSender() })).to.deep.equal({ matched: [], skipped: [] });
    for (const [fields, status, text] of [
      [{ senderId, payload: '{"id":1}', tags: { Region: "x" } }, 400, "tags: a name must be"],
      [{ senderId, payload: "{}", tags: { region: "a,b" } }, 400, "tags.region: must be"],
      [{ senderId, payload: "[]" }, 400, "payload: must be a JSON object"],
      [{ senderId: nowhere, payload: {} }, 404, "sender not found"],
    ] as const) {
      const refused = await client.post(`${path}/test`, fields);
      expect(refused.status, refused.text).to.equal(status);
      expect(refused.text).to.include(text);
    }
    const unmapped = await newSender({ mapping: jmespath("id") });
    expect(problem(await client.post(`${path}/test`, { senderId: unmapped, payload: { id: 1 } })))
      .to.deep.equal([400, "payload: the sender's mapping yields a number, not an object"]);
  });

  it("are deleted with their destination or their sender", async () => {
    const [senderId, destinationUrlId] = [await newSender(), await newDestination()];
    const kept = await created({ senderId });
    const ofDestination = [
      await created({ destinationUrlId }), await created({ senderId, destinationUrlId, ownerId: "a" }),
    ];
    const { client } = one.owner;
    await client.api.deleteDestination({ id: destinationUrlId });
    for (const { id } of ofDestination) expect((await get(id)).status).to.equal(404);
    expect((await get(kept.id)).status).to.equal(200);
    const [last] = (await client.api.listAudit({ SubjectId: ofDestination[0]!.id })).items;
    expect(last?.type).to.equal("SubscriptionDeleted");
    expect(last?.actor).to.deep.include({ type: "user", id: one.owner.id });
    await client.api.deleteSender({ id: senderId });
    expect((await get(kept.id)).status).to.equal(404);
    expect((await listed(`&SenderId=${senderId}`)).total).to.equal(0);
  });

  it("tell of their changes in the stream", async () => {
    const { client } = one.viewer;
    const stream = await EventStream.open(`${api.url}/api/v1/stream?Kinds=audit`, {
      authorization: `Bearer ${client.token}`,
    });
    try {
      const { id } = await created();
      await one.developer.client.patch(`${path}/${id}`, { status: "inactive" });
      const told = () => stream.frames.map(({ data }) => data as { type?: string; subject?: object })
        .filter(({ type }) => type?.startsWith("Subscription"));
      await stream.until(() => told().length >= 2);
      const subject = { type: "subscription", id };
      expect(told().map(({ type, subject: about }) => [type, about])).to.deep.equal([
        ["SubscriptionCreated", subject], ["SubscriptionDeactivated", subject],
      ]);
    } finally {
      await stream.close();
    }
  });

  it("are found by their id and by a part of their owner", async () => {
    const ownerId = unique("Küche");
    const { id } = await created({ ownerId });
    const { client } = one.viewer;
    const found = async (text: string) => (await client.api.lookup({ Q: text })).items;
    expect(await found(id)).to.deep.equal([{ kind: "subscription", id, label: ownerId, matched: "id" }]);
    expect(await found(ownerId.slice(1).toLowerCase()))
      .to.deep.equal([{ kind: "subscription", id, label: ownerId, matched: "ownerId" }]);
  });
});
