import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";
import { ManualReplayer } from "../support/replaying.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const fast = { perSecond: 1000 };

describeOnEngines("replays", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let deliveries: Deliveries;
  let replayer: ManualReplayer;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    deliveries = new Deliveries(api.world);
    replayer = new ManualReplayer(api);
  });
  beforeEach(async () => {
    one = await openAccount(api.url);
    mine = await openIngest(one.owner.client, one.tenantId);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const accept = async (to = mine, body = "{}", given: Readonly<Record<string, string>> = {}) => {
    const headers = { "x-api-key": to.apiKey, "content-type": "application/json", ...given };
    const { json } = await http("POST", api.url + to.path, { body, headers });
    // Each event has another time of acceptance.
    engines.clock.advance(1);
    return json as { eventId: string; acceptedAt: string };
  };
  const givenUp = async (...[to, body, given]: Parameters<typeof accept>) => {
    const accepted = await accept(to, body, given);
    await deliveries.fail(accepted.eventId, 1);
    return accepted;
  };
  const succeeded = async (to = mine, body = "{}") => {
    const accepted = await accept(to, body);
    await deliveries.succeed(accepted.eventId);
    return accepted;
  };
  const order = async (fields: object = {}, by = one.developer.client) => {
    const answer = await by.post("/api/v1/replays", { ...fast, ...fields });
    expect(answer.status, answer.text).to.equal(202);
    return shaped(answer, "replay") as { id: string; matched: number };
  };
  const matched = async (fields: object = {}, by = one.developer.client) => {
    const answer = await by.post("/api/v1/replays", { ...fields, dryRun: true });
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "match-count")["matched"];
  };
  const finish = (id: string, by = one.viewer.client) => replayer.finish(by, id);
  const event = (id: string) => one.viewer.client.api.getEvent({ id });
  const listed = (filter: object = {}) => one.viewer.client.api.listEvents({ Qt: 100, TpOrd: "Asc", ...filter });

  it("puts every event that was given up back to work, and no other", async () => {
    const failed = [await givenUp(), await givenUp(), await givenUp()];
    await succeeded();
    await accept();
    const { id, ...answer } = await order();
    const { outcome: none, ...ordered } = answer as typeof answer & { readonly outcome: object };
    expect(none).to.deep.equal({ delivered: 0, waiting: 0, exhausted: 0, cancelled: 0 });
    expect(ordered).to.deep.include({
      state: "Running", matched: 3, done: 0, skipped: 0, destinationUrlId: null, ids: null,
      status: ["CriticalFailure"], from: null, to: null, toDestinationUrlId: null, perSecond: 1000,
      actor: { type: "user", id: one.developer.id, role: "Developer" }, finishedAt: null,
    });
    const replay = await finish(id);
    const { finishedAt } = replay;
    expect(replay).to.deep.include({ ...ordered, state: "Finished", done: 3, skipped: 0, finishedAt });
    expect(finishedAt! >= replay.startedAt).to.equal(true);
    for (const { eventId } of failed) {
      expect(await event(eventId)).to.include({ status: "Pending", currentRetryCount: 0 });
      const { items } = await one.viewer.client.api.listEventHistory({ id: eventId, Qt: 100 });
      expect(items.at(-1)).to.include({ type: "EventReplayed" });
      expect(items.at(-1)?.actor).to.include({ type: "user", id: one.developer.id, role: "Developer" });
    }
    const { items } = await listed();
    expect(items.map(({ status }) => status)).to.deep.equal(
      ["Pending", "Pending", "Pending", "Succeeded", "Pending"]);
  });

  it("tells what has become of the events that it sent, and lists them", async () => {
    const [first, second, third] = [await givenUp(), await givenUp(), await givenUp()];
    await accept();
    const { id } = await order();
    const outcome = { delivered: 0, waiting: 3, exhausted: 0, cancelled: 0 };
    expect(await finish(id)).to.deep.include({ outcome });
    await deliveries.succeed(first.eventId);
    await deliveries.fail(second.eventId, 1);
    await one.developer.client.api.cancelEvent({ id: third.eventId });
    const ended = { delivered: 1, waiting: 0, exhausted: 1, cancelled: 1 };
    const { items } = await one.viewer.client.api.listReplays({});
    expect(items.map(({ outcome }) => outcome)).to.deep.equal([ended]);
    const sent = await listed({ ReplayId: id.toUpperCase() });
    expect([sent.total, sent.items.map((item) => item.id)])
      .to.deep.equal([3, [first, second, third].map(({ eventId }) => eventId)]);
    expect((await listed({ ReplayId: id, Status: ["CriticalFailure"] })).items).to.have.length(1);
    const again = await order();
    await finish(again.id);
    expect(await one.viewer.client.api.getReplay({ id })).to.deep.include({
      outcome: { delivered: 1, waiting: 1, exhausted: 0, cancelled: 1 },
    });
    await one.admin.client.api.purgeEvents({ status: "Succeeded" });
    expect(await one.viewer.client.api.getReplay({ id })).to.deep.include({
      outcome: { delivered: 0, waiting: 1, exhausted: 0, cancelled: 1 },
    });
    const other = await openAccount(api.url);
    expect((await other.viewer.client.api.listEvents({ ReplayId: id })).total).to.equal(0);
  });

  it("resends delivered events in place", async () => {
    const { eventId } = await succeeded();
    await givenUp();
    const { deliveredAt } = await event(eventId);
    const { id } = await order({ status: "Succeeded" });
    expect(await finish(id)).to.include({ state: "Finished", matched: 1, done: 1 });
    expect(await event(eventId)).to.include({ status: "Pending", deliveredAt });
    const { items } = await one.viewer.client.api.listEventHistory({ id: eventId, Qt: 100 });
    expect(items.at(-1)?.data).to.include({ mode: "resend" });
  });

  it("makes a new event of each at another destination, with the same bytes and its source", async () => {
    const other = await openIngest(one.owner.client, one.tenantId);
    const bodies = ['{"amount":1.0, "big":12345678901234567890}', '{ "a": 1, "a": 2 }', '{"é":"\\u00e9"}'];
    const sources = [await succeeded(mine, bodies[0]), await givenUp(mine, bodies[1]), await accept(mine, bodies[2])];
    await one.developer.client.api.cancelEvent({ id: sources[2]!.eventId });
    const status = ["Succeeded", "CriticalFailure", "Cancelled"];
    const { id } = await order({ status, toDestinationUrlId: other.destinationId.toUpperCase() });
    expect(await finish(id)).to.include({ state: "Finished", matched: 3, done: 3, skipped: 0 });
    const { items } = await listed({ DestinationUrlId: other.destinationId });
    expect(items.map(({ payload }) => payload)).to.have.members(bodies);
    for (const { payload, ...made } of items) {
      const source = sources[bodies.indexOf(payload ?? "")]!.eventId;
      expect(made).to.include({ status: "Pending", sourceEventId: source, idempotencyKey: null });
      expect(made.id).not.to.equal(source);
      const history = await one.viewer.client.api.listEventHistory({ id: made.id });
      expect(history.items[0]?.actor).to.include({ type: "user", id: one.developer.id, role: "Developer" });
    }
    const { items: before } = await listed({ DestinationUrlId: mine.destinationId });
    expect(before.map((each) => each.status)).to.deep.equal(status);
  });

  it("passes over the events of the destination that it sends to, and copies of them", async () => {
    const other = await openIngest(one.owner.client, one.tenantId);
    const third = await openIngest(one.owner.client, one.tenantId);
    for (let n = 0; n < 3; n += 1) await succeeded();
    const send = async (from: typeof mine | null, to: typeof mine) => {
      const fields = { status: "Succeeded", toDestinationUrlId: to.destinationId };
      const { id } = await order({ ...fields, ...(from && { destinationUrlId: from.destinationId }) });
      const replay = await finish(id);
      for (const made of (await listed({ Status: ["Pending"] })).items) await deliveries.succeed(made.id);
      return [replay.matched, replay.done, replay.skipped];
    };
    expect(await send(mine, mine)).to.deep.equal([3, 0, 3]);
    expect(await send(null, mine)).to.deep.equal([3, 0, 3]);
    expect(await send(mine, other)).to.deep.equal([3, 3, 0]);
    expect(await send(other, mine), "back").to.deep.equal([3, 0, 3]);
    expect(await send(other, third)).to.deep.equal([3, 3, 0]);
    expect(await send(third, mine), "back over two").to.deep.equal([3, 0, 3]);
    expect(await send(null, mine), "from everywhere").to.deep.equal([9, 0, 9]);
    expect((await listed({ DestinationUrlId: mine.destinationId })).total).to.equal(3);
    // The originals are gone, so the copies are new there.
    await one.admin.client.post("/api/v1/events/purge", { destinationUrlId: mine.destinationId });
    expect(await send(other, mine)).to.deep.equal([3, 3, 0]);
  });

  it("takes the events of one sender, one type or one tag", async () => {
    const { api: owner } = one.owner.client;
    const sender = { name: "Shop", destinationUrlId: mine.destinationId };
    const { id: senderId, ingestToken } = await owner.createSender(sender);
    const shop = { ...mine, path: `/api/v1/ingest/${one.tenantId}/${ingestToken}` };
    const paid = { "X-Event-Type": "invoice.paid" };
    const ids = [
      await givenUp(shop), await givenUp(mine, "{}", { ...paid, "X-Tags": "region=eu,order=1" }),
      await givenUp(mine, "{}", { ...paid, "X-Tags": "region=us" }), await givenUp(),
    ].map(({ eventId }) => eventId);
    expect(await matched({ senderId: senderId.toUpperCase() })).to.equal(1);
    expect(await matched({ senderId: nowhere })).to.equal(0);
    expect(await matched({ eventType: "invoice.paid" })).to.equal(2);
    expect(await matched({ eventType: "invoice" })).to.equal(0);
    expect(await matched({ tag: "region:eu", ids })).to.equal(1);
    expect(await matched({ eventType: "invoice.paid", tag: "region:us", destinationUrlId: nowhere })).to.equal(0);
    const other = await openIngest(one.owner.client, one.tenantId);
    const both = { eventType: "invoice.paid", tag: "region:us" };
    const { id } = await order({ ...both, toDestinationUrlId: other.destinationId });
    expect(await finish(id)).to.include({ ...both, senderId: null, matched: 1, done: 1, skipped: 0 });
    const [made] = (await listed({ DestinationUrlId: other.destinationId })).items;
    expect(made).to.deep.include({ sourceEventId: ids[2], eventType: "invoice.paid", tags: { region: "us" } });
    const inPlace = await order({ senderId });
    expect(await finish(inPlace.id)).to.include({ matched: 1, done: 1, skipped: 0 });
    expect((await event(ids[0]!)).status).to.equal("Pending");
  });

  it("only counts in a dry run", async () => {
    await givenUp();
    await givenUp();
    expect(await matched()).to.equal(2);
    expect((await one.viewer.client.api.listReplays()).items).to.deep.equal([]);
    expect(await replayer.step()).to.equal(false);
  });

  it("takes the events of one destination, one period, some ids, some statuses, or all of these", async () => {
    const other = await openIngest(one.owner.client, one.tenantId);
    const [a, b, c] = [await givenUp(), await givenUp(other), await givenUp()];
    const d = await succeeded(other);
    expect(await matched({ destinationUrlId: mine.destinationId.toUpperCase() })).to.equal(2);
    expect(await matched({ destinationUrlId: nowhere })).to.equal(0);
    expect(await matched({ from: b.acceptedAt })).to.equal(2);
    expect(await matched({ to: b.acceptedAt })).to.equal(2);
    expect(await matched({ from: c.acceptedAt, to: a.acceptedAt })).to.equal(0);
    expect(await matched({ ids: [a.eventId, a.eventId.toUpperCase(), d.eventId, nowhere] })).to.equal(1);
    const toDestinationUrlId = mine.destinationId;
    expect(await matched({ status: "Succeeded", toDestinationUrlId })).to.equal(1);
    expect(await matched({ status: ["Succeeded", "CriticalFailure"], toDestinationUrlId })).to.equal(4);
    const ids = [c.eventId, b.eventId, d.eventId];
    const both = { ids, destinationUrlId: other.destinationId, from: b.acceptedAt, to: b.acceptedAt };
    const { id } = await order(both);
    expect(await finish(id)).to.deep.include({ matched: 1, done: 1, skipped: 0, ...both, ids: ids.sort() });
    expect((await event(b.eventId)).status).to.equal("Pending");
    expect((await event(c.eventId)).status).to.equal("CriticalFailure");
  });
});
